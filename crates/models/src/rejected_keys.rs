//! The providers that rejected their key in the last request to them. Kept in memory, so a restart clears it.

use crate::handle::{Inner, Models};
use crate::keys::Key;
use crate::refusal::Reason;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// The IDs of the providers. Only configured providers are called, so the set needs no limit.
#[derive(Debug, Default)]
pub(crate) struct RejectedKeys(Mutex<HashSet<String>>);

impl RejectedKeys {
    pub(crate) fn contains(&self, provider: &str) -> bool {
        let rejected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rejected.contains(provider)
    }

    fn insert(&self, provider: &str) {
        let mut rejected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rejected.insert(provider.to_owned());
    }

    fn remove(&self, provider: &str) {
        let mut rejected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rejected.remove(provider);
    }

    pub(crate) fn forget(&self) {
        let mut rejected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rejected.clear();
    }
}

impl Models {
    /// Deletes the record that a provider rejected its key. Call this when the key changes.
    pub fn forget_rejected_key(&self, provider: &str) {
        self.inner.rejected_keys.remove(provider);
    }
}

impl Inner {
    /// Records that a provider answered a request.
    pub(crate) fn note_accepted(&self, provider: &str) {
        self.rejected_keys.remove(provider);
    }

    /// Records why a provider refused a request. A refusal for another reason changes nothing.
    pub(crate) fn note_refused(&self, provider: &str, key: &Key<'_>, reason: Reason) {
        // A local server may require a key although none was entered.
        if reason == Reason::KeyRejected && key.text().is_some() {
            self.rejected_keys.insert(provider);
        }
    }
}
