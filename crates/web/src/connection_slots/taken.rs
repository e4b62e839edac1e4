//! Counts the taken slots, and selects the slot to free.

use super::ConnectionState;
use gatehouse_domain::ClientKey;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The number of a client's oldest connections that are checked for an idle one.
const LOOKED_AT: usize = 64;

#[derive(Default)]
pub(super) struct TakenSlots {
    /// The connections in order of arrival.
    pub(super) all: BTreeMap<u64, Arc<ConnectionState>>,
    pub(super) by_client: HashMap<ClientKey, usize>,
    /// The connections that may be evicted, by client.
    pub(super) evictable: HashMap<ClientKey, BTreeSet<u64>>,
    /// The same clients, ordered by their number of connections.
    pub(super) by_number: BTreeSet<(usize, ClientKey)>,
    pub(super) next: u64,
}

impl TakenSlots {
    pub(super) fn add_evictable(&mut self, client: ClientKey, number: u64) {
        let held = self.evictable.entry(client).or_default();
        self.by_number.remove(&(held.len(), client));
        held.insert(number);
        self.by_number.insert((held.len(), client));
    }

    pub(super) fn remove_evictable(&mut self, client: ClientKey, number: u64) {
        let Some(held) = self.evictable.get_mut(&client) else {
            return;
        };
        let before = held.len();
        if !held.remove(&number) {
            return;
        }
        self.by_number.remove(&(before, client));
        if held.is_empty() {
            self.evictable.remove(&client);
        } else {
            self.by_number.insert((held.len(), client));
        }
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<Arc<ConnectionState>> {
        let connection = self.all.remove(&number)?;
        self.remove_evictable(connection.client, number);
        match self.by_client.get_mut(&connection.client) {
            Some(held) if *held > 1 => *held -= 1,
            _ => drop(self.by_client.remove(&connection.client)),
        }
        Some(connection)
    }

    /// Evicts an unauthenticated connection of this client: the oldest idle one, or the oldest one unless `idle_only`.
    /// Returns `false` if there is none.
    pub(super) fn evict(&mut self, client: ClientKey, idle_only: bool) -> bool {
        let Some(held) = self.evictable.get(&client) else {
            return false;
        };
        let is_idle = |number: &&u64| {
            self.all
                .get(*number)
                .is_some_and(|connection| connection.is_idle())
        };
        let idle = held.iter().take(LOOKED_AT).find(is_idle);
        let oldest = held.first().filter(|_| !idle_only);
        let Some(victim) = idle.or(oldest).copied() else {
            return false;
        };
        match self.remove(victim) {
            Some(connection) => connection.ended.cancel(),
            None => return false,
        }
        true
    }
}
