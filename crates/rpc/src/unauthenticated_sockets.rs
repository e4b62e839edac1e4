//! Counts unauthenticated sockets, in total and per client. Guards do the counting, so the count stays correct when a
//! connection ends abnormally. This module is independent of connections.

use gatehouse_domain::ClientKey;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// The maximum number of unauthenticated sockets.
pub const MAX_SOCKETS: usize = 1_000;
/// The maximum number of unauthenticated sockets per client.
pub const MAX_SOCKETS_PER_CLIENT: u32 = 20;

#[derive(Debug, Default)]
struct Counts {
    /// The sockets in order of arrival.
    places: BTreeMap<u64, CountedSocket>,
    by_client: HashMap<ClientKey, BTreeSet<u64>>,
    next: u64,
}

#[derive(Debug)]
struct CountedSocket {
    client: ClientKey,
    evicted: CancellationToken,
}

impl Counts {
    fn remove(&mut self, number: u64) -> Option<CountedSocket> {
        let place = self.places.remove(&number)?;
        if let Some(held) = self.by_client.get_mut(&place.client) {
            held.remove(&number);
            if held.is_empty() {
                self.by_client.remove(&place.client);
            }
        }
        Some(place)
    }

    /// Returns the oldest socket of the client that has the most sockets.
    fn victim(&self) -> Option<u64> {
        let most = self.by_client.values().map(BTreeSet::len).max()?;
        let with_most = self.by_client.values().filter(|held| held.len() == most);
        with_most.filter_map(|held| held.first().copied()).min()
    }
}

/// Counts sockets that are not authenticated yet.
#[derive(Clone, Debug, Default)]
pub struct UnauthenticatedSockets {
    counts: Arc<Mutex<Counts>>,
}

impl UnauthenticatedSockets {
    /// Takes a slot until the guard is dropped. Returns `None` if the client has used up its own slots. `limit_factor`
    /// is above one for a proxy whose clients cannot be distinguished. If all slots are taken, evicts the oldest socket
    /// of the client that has the most.
    pub fn admit(&self, client: ClientKey, limit_factor: u32) -> Option<SocketGuard> {
        let mut counts = self.lock();
        let held = counts.by_client.get(&client).map_or(0, BTreeSet::len);
        let limit = MAX_SOCKETS_PER_CLIENT.saturating_mul(limit_factor.max(1));
        if u32::try_from(held).map_or(true, |held| held >= limit) {
            return None;
        }
        if counts.places.len() >= MAX_SOCKETS {
            let victim = counts.victim()?;
            if let Some(place) = counts.remove(victim) {
                place.evicted.cancel();
            }
        }
        let number = counts.next;
        counts.next += 1;
        let evicted = CancellationToken::new();
        let place = CountedSocket {
            client,
            evicted: evicted.clone(),
        };
        counts.places.insert(number, place);
        counts.by_client.entry(client).or_default().insert(number);
        Some(SocketGuard {
            census: self.clone(),
            number,
            evicted,
        })
    }

    /// Returns the number of unauthenticated sockets.
    pub fn total(&self) -> usize {
        self.lock().places.len()
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A slot in the census.
#[derive(Debug)]
#[must_use = "the slot is released when this is dropped"]
pub struct SocketGuard {
    census: UnauthenticatedSockets,
    number: u64,
    evicted: CancellationToken,
}

impl SocketGuard {
    /// Returns a token that is canceled when another socket takes this slot.
    pub fn evicted(&self) -> CancellationToken {
        self.evicted.clone()
    }
}

impl Drop for SocketGuard {
    fn drop(&mut self) {
        self.census.lock().remove(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};

    fn client(n: u32) -> ClientKey {
        ClientKey::of(IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + n)))
    }

    #[test]
    fn a_client_has_20_sockets_and_gets_a_place_back() {
        let census = UnauthenticatedSockets::default();
        let mut held: Vec<_> = (0..20)
            .map(|_| census.admit(client(1), 1).unwrap())
            .collect();
        assert!(census.admit(client(1), 1).is_none());
        assert!(census.admit(client(2), 1).is_some());
        held.pop();
        assert!(census.admit(client(1), 1).is_some());
        drop(held);
        assert_eq!(census.total(), 0);
        assert!(census.lock().by_client.is_empty());
    }

    #[test]
    fn there_are_1000_sockets_in_all() {
        let census = UnauthenticatedSockets::default();
        let held: Vec<_> = (0..1000)
            .map(|n| census.admit(client(n), 1).unwrap())
            .collect();
        assert!(held.iter().all(|guard| !guard.evicted().is_cancelled()));
        let more = census.admit(client(5000), 1).unwrap();
        assert_eq!(census.total(), 1000);
        assert!(held[0].evicted().is_cancelled());
        drop((held, more));
        assert_eq!(census.total(), 0);
    }

    #[test]
    fn a_proxy_without_names_has_ten_times_as_many() {
        let census = UnauthenticatedSockets::default();
        let held: Vec<_> = (0..200)
            .map(|_| census.admit(client(1), 10).unwrap())
            .collect();
        assert!(census.admit(client(1), 10).is_none());
        drop(held);
    }

    #[test]
    fn when_all_places_are_taken_the_oldest_of_who_has_the_most_makes_room() {
        let census = UnauthenticatedSockets::default();
        let owner = census.admit(client(0), 1).unwrap();
        // Clients with 20 sockets each fill the remaining slots and request one more.
        let mut held: Vec<_> = (0..1000)
            .map(|n| census.admit(client(1 + n / 20), 1).unwrap())
            .collect();
        let gone = |held: &[SocketGuard]| -> Vec<usize> {
            let places = held.iter().enumerate();
            let gone = places.filter(|(_, guard)| guard.evicted().is_cancelled());
            gone.map(|(place, _)| place).collect()
        };
        assert_eq!(gone(&held), [0]);
        assert_eq!(census.total(), 1000);
        held.push(census.admit(client(5000), 1).unwrap());
        assert_eq!(gone(&held), [0, 20]);
        assert!(!owner.evicted().is_cancelled());
        // Dropping an evicted guard releases nothing.
        drop(held);
        assert_eq!(census.total(), 1);
        drop(owner);
        assert!(census.lock().by_client.is_empty());
    }
}
