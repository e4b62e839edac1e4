//! How many unauthenticated sockets there are, in all and per client, and how many bytes of calls
//! are being worked on. Both are counted by guards, so that nothing is forgotten when a connection
//! ends in an unusual way. Knows no connection.

use gatehouse_domain::ClientKey;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Unauthenticated sockets in all.
pub const MAX_SOCKETS: usize = 1_000;
/// Unauthenticated sockets of one client.
pub const MAX_SOCKETS_PER_CLIENT: u32 = 20;
/// Bytes of calls in work over all sockets.
pub const MAX_BYTES_IN_WORK: usize = 256 * 1024 * 1024;

#[derive(Debug, Default)]
struct Counts {
    total: usize,
    by_client: HashMap<ClientKey, u32>,
}

/// Counts the sockets that have not said who they are.
#[derive(Clone, Debug, Default)]
pub struct SocketCensus {
    counts: Arc<Mutex<Counts>>,
}

impl SocketCensus {
    /// Takes a place until the guard is dropped; `None` when there is none. `limit_factor` is above
    /// one for a proxy whose clients cannot be told apart.
    pub fn admit(&self, client: ClientKey, limit_factor: u32) -> Option<SocketGuard> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let held = counts.by_client.get(&client).copied().unwrap_or(0);
        let limit = MAX_SOCKETS_PER_CLIENT.saturating_mul(limit_factor.max(1));
        if counts.total >= MAX_SOCKETS || held >= limit {
            return None;
        }
        counts.total += 1;
        counts.by_client.insert(client, held + 1);
        Some(SocketGuard {
            census: self.clone(),
            client,
        })
    }

    /// How many there are.
    pub fn total(&self) -> usize {
        self.counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .total
    }
}

/// A place in the census.
#[derive(Debug)]
#[must_use = "the place is given back when this is dropped"]
pub struct SocketGuard {
    census: SocketCensus,
    client: ClientKey,
}

impl Drop for SocketGuard {
    fn drop(&mut self) {
        let mut counts = self
            .census
            .counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        counts.total = counts.total.saturating_sub(1);
        match counts.by_client.get_mut(&self.client) {
            Some(held) if *held > 1 => *held -= 1,
            _ => drop(counts.by_client.remove(&self.client)),
        }
    }
}

/// How many bytes of calls may be in work.
#[derive(Clone, Debug)]
pub struct ByteBudget {
    used: Arc<AtomicUsize>,
    limit: usize,
}

impl ByteBudget {
    /// A budget of so many bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            used: Arc::new(AtomicUsize::new(0)),
            limit,
        }
    }

    /// Takes so many bytes until the guard is dropped; `None` when they are not free.
    pub fn take(&self, bytes: usize) -> Option<BytesGuard> {
        let mut guard = BytesGuard {
            budget: self.clone(),
            bytes: 0,
        };
        guard.grow(bytes).then_some(guard)
    }
}

/// Some bytes of a budget.
#[derive(Debug)]
#[must_use = "the bytes are given back when this is dropped"]
pub struct BytesGuard {
    budget: ByteBudget,
    bytes: usize,
}

impl BytesGuard {
    /// Takes so many more; `false`, and nothing is taken, when they are not free.
    pub fn grow(&mut self, bytes: usize) -> bool {
        let (used, limit) = (&self.budget.used, self.budget.limit);
        let take = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= limit);
        let taken = used.try_update(Ordering::AcqRel, Ordering::Acquire, take);
        if taken.is_ok() {
            self.bytes += bytes;
        }
        taken.is_ok()
    }
}

impl Drop for BytesGuard {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::AcqRel);
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
        let census = SocketCensus::default();
        let mut held: Vec<_> = (0..20)
            .map(|_| census.admit(client(1), 1).unwrap())
            .collect();
        assert!(census.admit(client(1), 1).is_none());
        assert!(census.admit(client(2), 1).is_some());
        held.pop();
        assert!(census.admit(client(1), 1).is_some());
        drop(held);
        assert_eq!(census.total(), 0);
        assert!(census.counts.lock().unwrap().by_client.is_empty());
    }

    #[test]
    fn there_are_1000_sockets_in_all() {
        let census = SocketCensus::default();
        let held: Vec<_> = (0..1000)
            .map(|n| census.admit(client(n), 1).unwrap())
            .collect();
        assert!(census.admit(client(5000), 1).is_none());
        drop(held);
        assert!(census.admit(client(5000), 1).is_some());
    }

    #[test]
    fn a_proxy_without_names_has_ten_times_as_many() {
        let census = SocketCensus::default();
        let held: Vec<_> = (0..200)
            .map(|_| census.admit(client(1), 10).unwrap())
            .collect();
        assert!(census.admit(client(1), 10).is_none());
        drop(held);
    }

    #[test]
    fn bytes_are_taken_up_to_the_limit() {
        let budget = ByteBudget::new(10);
        let six = budget.take(6).unwrap();
        assert!(budget.take(5).is_none());
        let mut none = budget.take(0).unwrap();
        assert!(!none.grow(5) && none.grow(4) && !none.grow(1));
        drop(none);
        let four = budget.take(4).unwrap();
        assert!(budget.take(1).is_none());
        drop((six, four));
        assert!(budget.take(10).is_some());
        assert!(budget.take(usize::MAX).is_none());
    }
}
