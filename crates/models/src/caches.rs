//! Providers' answers about their models, cached for some time.

use crate::listed::Listed;
use crate::model_ref::ModelRef;
use gatehouse_domain::ModelFacts;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of models with cached answers. Callers of `/v1/*` can name any number of
/// models.
const MAX_SHOWN: usize = 1000;

#[derive(Debug)]
struct Entry {
    at_ms: u64,
    listed: Arc<Vec<Listed>>,
}

/// The cached model lists, by provider ID.
#[derive(Debug, Default)]
pub(crate) struct Catalogue(Mutex<HashMap<String, Entry>>);

impl Catalogue {
    pub(crate) fn forget(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    pub(crate) fn get(&self, id: &str, now: u64, max_age_ms: u64) -> Option<Arc<Vec<Listed>>> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.get(id)?;
        (now.saturating_sub(entry.at_ms) < max_age_ms).then(|| Arc::clone(&entry.listed))
    }

    pub(crate) fn put(&self, id: &str, now: u64, listed: &Arc<Vec<Listed>>) {
        let entry = Entry {
            at_ms: now,
            listed: Arc::clone(listed),
        };
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.insert(id.to_owned(), entry);
    }
}

#[derive(Debug)]
pub(crate) struct Probe {
    pub(crate) at_ms: u64,
    pub(crate) found: Option<Arc<Vec<Listed>>>,
}

/// The last probe. The lock is held during a probe, so concurrent callers wait for the same probe.
#[derive(Debug, Default)]
pub(crate) struct LocalServer(pub(crate) tokio::sync::Mutex<Option<Probe>>);

/// The answers of Ollama servers, by model. If the server does not have a model, its facts are
/// empty.
#[derive(Debug, Default)]
pub(crate) struct Shown(Mutex<HashMap<ModelRef, ModelFacts>>);

impl Shown {
    pub(crate) fn of(&self, model: &ModelRef) -> Option<ModelFacts> {
        let shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shown.get(model).copied()
    }

    pub(crate) fn put(&self, model: &ModelRef, facts: ModelFacts) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.len() >= MAX_SHOWN && !shown.contains_key(model) {
            shown.clear();
        }
        shown.insert(model.clone(), facts);
    }

    pub(crate) fn forget(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_models_are_remembered_and_no_more() {
        let shown = Shown::default();
        let model = |number: usize| ModelRef {
            provider: "p".to_owned(),
            model: number.to_string(),
        };
        for number in 0..MAX_SHOWN {
            shown.put(&model(number), ModelFacts::default());
        }
        shown.put(&model(0), ModelFacts::default());
        assert!((0..MAX_SHOWN).all(|number| shown.of(&model(number)).is_some()));
        shown.put(&model(MAX_SHOWN), ModelFacts::default());
        assert!(shown.of(&model(MAX_SHOWN)).is_some() && shown.of(&model(0)).is_none());
    }
}
