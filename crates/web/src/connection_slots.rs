//! Connection slots: limits the connections in total and per client, and selects the connection to evict when all slots
//! are taken. A connection has a slot, and a WebSocket keeps the slot of the connection that was upgraded.

mod limits;
mod taken;

use gatehouse_domain::ClientKey;
pub use limits::ConnectionLimits;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use taken::TakenSlots;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The connection slots of a server. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct ConnectionSlots {
    limits: ConnectionLimits,
    taken: Arc<Mutex<TakenSlots>>,
}

impl ConnectionSlots {
    pub(crate) fn new(limits: ConnectionLimits) -> Self {
        Self {
            limits,
            taken: Arc::default(),
        }
    }

    /// Takes a slot for a connection. If all slots are taken, evicts a connection of the client with the most
    /// unauthenticated connections. If this client has used up its own slots, evicts one of its idle connections.
    /// Returns `None` if no connection can be evicted. `is_shared` means that many clients connect through this
    /// address.
    pub(crate) fn take(&self, client: ClientKey, is_shared: bool) -> Option<ConnectionSlot> {
        let mut taken = self.lock();
        let held = taken.by_client.get(&client).copied().unwrap_or(0);
        if !is_shared && held >= self.limits.per_client && !taken.evict(client, true) {
            return None;
        }
        if taken.all.len() >= self.limits.total && !make_room(&mut taken) {
            return None;
        }
        let number = taken.next;
        taken.next += 1;
        let connection = Arc::new(ConnectionState {
            number,
            client,
            slots: self.clone(),
            ended: CancellationToken::new(),
            is_kept: AtomicBool::new(false),
            requests: AtomicUsize::new(0),
            opened: Instant::now(),
            idle_since_ms: AtomicU64::new(0),
        });
        taken.all.insert(number, Arc::clone(&connection));
        *taken.by_client.entry(client).or_default() += 1;
        taken.add_evictable(client, number);
        Some(ConnectionSlot(Arc::new(Guard(connection))))
    }

    /// Evicts one connection, because the process has no file descriptors left.
    pub(crate) fn make_room(&self) -> bool {
        make_room(&mut self.lock())
    }

    pub(crate) const fn limits(&self) -> &ConnectionLimits {
        &self.limits
    }

    fn lock(&self) -> MutexGuard<'_, TakenSlots> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn make_room(taken: &mut TakenSlots) -> bool {
    let most = taken.by_number.last().map(|(_, client)| *client);
    most.is_some_and(|client| taken.evict(client, false))
}

struct ConnectionState {
    number: u64,
    client: ClientKey,
    slots: ConnectionSlots,
    ended: CancellationToken,
    is_kept: AtomicBool,
    /// The number of active requests.
    requests: AtomicUsize,
    opened: Instant,
    /// When the last request ended, in milliseconds after the connection was opened.
    idle_since_ms: AtomicU64,
}

impl ConnectionState {
    fn is_idle(&self) -> bool {
        self.requests.load(Ordering::Acquire) == 0
    }

    fn idle_for(&self) -> Duration {
        let since = Duration::from_millis(self.idle_since_ms.load(Ordering::Acquire));
        self.opened.elapsed().saturating_sub(since)
    }
}

/// Releases the slot on drop.
struct Guard(Arc<ConnectionState>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.slots.lock().remove(self.0.number);
    }
}

/// A slot. It is released when its last clone is dropped.
#[derive(Clone)]
pub(crate) struct ConnectionSlot(Arc<Guard>);

impl fmt::Debug for ConnectionSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionSlot")
            .field("client", &self.0.0.client)
            .finish_non_exhaustive()
    }
}

impl ConnectionSlot {
    /// Marks the connection as used by an authenticated caller. It is then never evicted.
    pub(crate) fn keep(&self) {
        let connection = &self.0.0;
        if !connection.is_kept.swap(true, Ordering::AcqRel) {
            let mut taken = connection.slots.lock();
            taken.remove_evictable(connection.client, connection.number);
        }
    }

    /// Counts a request as active until the guard is dropped.
    pub(crate) fn begin_request(&self) -> InWork {
        self.0.0.requests.fetch_add(1, Ordering::AcqRel);
        InWork(self.clone())
    }

    /// Returns a token that is canceled when the connection is evicted.
    pub(crate) fn ended(&self) -> CancellationToken {
        self.0.0.ended.clone()
    }

    /// Waits until no request has been active for `limit`.
    pub(crate) async fn idle(&self, limit: Duration) {
        let connection = &self.0.0;
        loop {
            let left = if connection.is_idle() {
                match limit.checked_sub(connection.idle_for()) {
                    None | Some(Duration::ZERO) => return,
                    Some(left) => left,
                }
            } else {
                limit
            };
            // Idle times have a resolution of one millisecond.
            tokio::time::sleep(left.max(Duration::from_millis(1))).await;
        }
    }
}

/// An active request.
pub(crate) struct InWork(ConnectionSlot);

impl Drop for InWork {
    fn drop(&mut self) {
        let connection = &self.0.0.0;
        let now = u64::try_from(connection.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        connection.idle_since_ms.store(now, Ordering::Release);
        connection.requests.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests;
