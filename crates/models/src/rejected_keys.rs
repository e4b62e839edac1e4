//! The keys that providers rejected in the last request. They are kept in memory, so a restart clears them.

use crate::candidates::Endpoint;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A fingerprint of the rejected key and its address, by the ID of the provider. Only configured providers are called,
/// so the map needs no limit.
#[derive(Debug, Default)]
pub(crate) struct RejectedKeys {
    fingerprints: Mutex<HashMap<String, u64>>,
    /// Hashes with a random secret of this process. A fingerprint therefore reveals nothing about the key.
    hasher: RandomState,
}

impl RejectedKeys {
    /// Returns whether the provider has rejected a key.
    pub(crate) fn has(&self, endpoint: &Endpoint<'_>) -> bool {
        self.all().contains_key(&*endpoint.id)
    }

    /// Returns whether the provider rejected this key.
    pub(crate) fn is(&self, endpoint: &Endpoint<'_>, key: &str) -> bool {
        self.all().get(&*endpoint.id) == Some(&self.fingerprint(endpoint, key))
    }

    pub(crate) fn note_accepted(&self, endpoint: &Endpoint<'_>, key: &str) {
        let accepted = self.fingerprint(endpoint, key);
        let mut all = self.all();
        if all.get(&*endpoint.id) == Some(&accepted) {
            all.remove(&*endpoint.id);
        }
    }

    pub(crate) fn note_rejected(&self, endpoint: &Endpoint<'_>, key: &str) {
        let rejected = self.fingerprint(endpoint, key);
        self.all().insert(endpoint.id.to_string(), rejected);
    }

    fn fingerprint(&self, endpoint: &Endpoint<'_>, key: &str) -> u64 {
        self.hasher.hash_one((endpoint.base_url.as_str(), key))
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.fingerprints
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
