//! A cache of parsed webhook configurations. A delivery uses the configuration at its receipt.

use crate::webhook::Snapshot;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of cached configurations. Deliveries of a webhook share one configuration until it is changed.
const KEPT: usize = 256;

/// Parsed configurations by their text.
#[derive(Debug, Default)]
pub(crate) struct Snapshots(Mutex<HashMap<Box<str>, Arc<Snapshot>>>);

impl Snapshots {
    /// Returns the parsed configuration of a text; `None` if the text cannot be parsed.
    pub(crate) fn get(&self, text: &str) -> Option<Arc<Snapshot>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(snapshot) = known.get(text) {
            return Some(Arc::clone(snapshot));
        }
        let snapshot: Arc<Snapshot> = Arc::new(serde_json::from_str(text).ok()?);
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(text.into(), Arc::clone(&snapshot));
        Some(snapshot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_parsed_once_and_few_are_kept() {
        let text = |name: usize| {
            format!(
                r#"{{"public_id":"wh","name":"{name}","source_profile":"generic",
                "rate_limit_per_minute":1,"max_body_bytes":1}}"#
            )
        };
        let snapshots = Snapshots::default();
        let first = snapshots.get(&text(0)).unwrap();
        assert!(Arc::ptr_eq(&first, &snapshots.get(&text(0)).unwrap()));
        assert!(snapshots.get("{").is_none());
        for name in 0..=KEPT {
            assert_eq!(snapshots.get(&text(name)).unwrap().name, name.to_string());
            assert!(snapshots.0.lock().unwrap().len() <= KEPT);
        }
    }
}
