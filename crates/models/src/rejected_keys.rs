//! The keys that providers rejected in the last request with them. Kept in memory, so a restart clears it.

use crate::candidates::Endpoint;
use crate::handle::Inner;
use crate::keys::Key;
use crate::refusal::Reason;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A fingerprint of the rejected key and its address, by the ID of the provider. Only configured providers are called,
/// so the map needs no limit.
#[derive(Debug, Default)]
pub(crate) struct RejectedKeys {
    fingerprints: Mutex<HashMap<String, u64>>,
    /// Hashes with a random secret of this process, so that a fingerprint reveals nothing about the key.
    hasher: RandomState,
}

impl RejectedKeys {
    fn fingerprint(&self, endpoint: &Endpoint<'_>, key: &str) -> u64 {
        self.hasher.hash_one((endpoint.base_url.as_str(), key))
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.fingerprints
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Whether the provider rejected the key that is in use. A key that was entered since is not the rejected one,
    /// also if it was entered on another node.
    pub(crate) async fn is_key_rejected(&self, endpoint: &Endpoint<'_>) -> bool {
        let rejected = self.rejected_keys.all().get(&*endpoint.id).copied();
        if rejected.is_none() {
            return false;
        }
        let Ok(key) = self.key(endpoint).await else {
            return false;
        };
        key.text()
            .map(|text| self.rejected_keys.fingerprint(endpoint, text))
            == rejected
    }

    /// Records that a provider answered a request with this key.
    pub(crate) fn note_accepted(&self, endpoint: &Endpoint<'_>, key: &Key<'_>) {
        let Some(text) = key.text() else { return };
        let accepted = self.rejected_keys.fingerprint(endpoint, text);
        let mut all = self.rejected_keys.all();
        if all.get(&*endpoint.id) == Some(&accepted) {
            all.remove(&*endpoint.id);
        }
    }

    /// Records why a provider refused a request. A refusal for another reason changes nothing.
    pub(crate) fn note_refused(&self, endpoint: &Endpoint<'_>, key: &Key<'_>, reason: Reason) {
        // A local server may require a key although none was entered.
        let Some(text) = key.text() else { return };
        if reason == Reason::KeyRejected {
            let rejected = self.rejected_keys.fingerprint(endpoint, text);
            let id = endpoint.id.to_string();
            self.rejected_keys.all().insert(id, rejected);
        }
    }
}
