//! Configurations of deliveries, each distinct text parsed once.

use crate::record::Snapshot;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How many are kept. A delivery has that of its webhook when it came, so there are few.
const KEPT: usize = 256;

/// The configurations that were used lately.
#[derive(Debug, Default)]
pub(crate) struct Snapshots(Mutex<HashMap<Box<str>, Arc<Snapshot>>>);

impl Snapshots {
    /// The configuration that a text holds; `None` for one that cannot be read.
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
