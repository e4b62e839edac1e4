//! Limits how often a client may send a wrong token. If a secret is short, the limit applies to all nodes of a
//! database together. Applies to secrets that are compared as tokens.

use gatehouse_domain::{ClientKey, Clock, SlidingWindow, WebhookId};
use gatehouse_sources::verify::VerifyError;
use gatehouse_store::{Purpose, RateKey, SharedCounts, Store};
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::task::TaskTracker;

/// Wrong tokens per minute, client and webhook if any secret is short.
pub(crate) const SHORT_PER_MINUTE: u32 = 20;
/// Wrong tokens per minute, client and webhook if every secret has at least [`crate::secret::SHORT_BYTES`] bytes.
pub(crate) const LONG_PER_MINUTE: u32 = 600;
const WINDOW_MS: u32 = 60_000;
/// Maximum number of tracked pairs of webhook and client. The oldest pair is dropped when the limit is reached.
/// Requests from many clients can therefore not delay a client that has the secret.
const CAPACITY: usize = 65_536;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    webhook: WebhookId,
    client: ClientKey,
}

impl RateKey for Key {
    fn name(&self) -> String {
        format!("guesses:{}:{}", self.webhook, self.client)
    }
}

/// Counts wrong tokens per webhook and client.
pub(crate) struct Guesses {
    clock: Arc<dyn Clock>,
    table: Mutex<Table>,
    /// The counts of all nodes.
    shared: Option<SharedCounts<Key>>,
}

struct Table {
    windows: HashMap<Key, SlidingWindow>,
    /// The keys of `windows` in insertion order.
    order: VecDeque<Key>,
    swept_at_ms: u64,
    capacity: usize,
}

impl fmt::Debug for Guesses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guesses").finish_non_exhaustive()
    }
}

/// A request with tokens.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) webhook: WebhookId,
    pub(crate) client: ClientKey,
    /// Number of tokens in the request.
    pub(crate) tokens: u32,
    /// Maximum number of wrong tokens per minute.
    pub(crate) per_minute: u32,
}

impl Table {
    /// Removes expired windows, once per window length.
    fn tick(&mut self, now_ms: u64) {
        let since = now_ms.saturating_sub(self.swept_at_ms);
        if since < u64::from(WINDOW_MS) {
            return;
        }
        // Windows store the low 32 bits of times. After two window lengths, all windows have expired. This check
        // prevents that their ages wrap around.
        let all_passed = since >= 2 * u64::from(WINDOW_MS);
        self.windows
            .retain(|_, window| !all_passed && !window.is_idle(WINDOW_MS, now_ms));
        let windows = &self.windows;
        self.order.retain(|key| windows.contains_key(key));
        self.swept_at_ms = now_ms;
    }

    fn record(&mut self, key: Key, tokens: u32, now_ms: u64) {
        if !self.windows.contains_key(&key) {
            if self.windows.len() >= self.capacity
                && let Some(first) = self.order.pop_front()
            {
                self.windows.remove(&first);
            }
            self.order.push_back(key.clone());
        }
        let window = self.windows.entry(key).or_default();
        for _ in 0..tokens {
            window.record(WINDOW_MS, now_ms);
        }
    }
}

impl Guesses {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let table = Table {
            windows: HashMap::new(),
            order: VecDeque::new(),
            swept_at_ms: clock.monotonic_ms(),
            capacity: CAPACITY,
        };
        Self {
            clock,
            table: Mutex::new(table),
            shared: None,
        }
    }

    /// Adds counts on all nodes, if the database may have several nodes.
    pub(crate) fn shared(mut self, store: &Store, tasks: &TaskTracker) -> Self {
        let counts = SharedCounts::new(store, &self.clock, tasks, WINDOW_MS);
        self.shared = Some(counts);
        self
    }

    /// Runs `compare`, unless the client has used up its wrong tokens on all nodes. In this case, returns how many
    /// milliseconds it must wait. A token is counted before it is compared, and the count of a correct token is
    /// returned. If requests arrive from many clients, this node counts alone.
    pub(crate) async fn compare<T>(
        &self,
        attempt: Attempt,
        compare: impl FnOnce() -> Result<T, VerifyError>,
    ) -> Result<Result<T, VerifyError>, u64> {
        // Long secrets cannot be guessed. Their limit only bounds the load of each node.
        let shared = self
            .shared
            .as_ref()
            .filter(|_| attempt.per_minute <= SHORT_PER_MINUTE);
        let Some(shared) = shared else {
            return self.compare_here(attempt, compare);
        };
        let key = Key {
            webhook: attempt.webhook.clone(),
            client: attempt.client,
        };
        let limit = vec![(key, attempt.per_minute)];
        // A client with the correct token must not wait for others.
        let places = shared.take(Purpose::Load, attempt.tokens, limit).await;
        let places = places.map_err(|refused| refused.wait_ms)?;
        let compared = self.compare_here(attempt, compare);
        if !matches!(compared, Ok(Err(VerifyError::Wrong))) {
            places.give_back();
        }
        compared
    }

    /// Like [`Self::compare`], on this node only. `compare` runs under the lock, so concurrent attempts are counted
    /// one by one.
    fn compare_here<T>(
        &self,
        attempt: Attempt,
        compare: impl FnOnce() -> Result<T, VerifyError>,
    ) -> Result<Result<T, VerifyError>, u64> {
        let Attempt {
            webhook,
            client,
            tokens,
            per_minute,
        } = attempt;
        let key = Key { webhook, client };
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let now_ms = self.clock.monotonic_ms();
        table.tick(now_ms);
        let before = per_minute.saturating_sub(tokens.saturating_sub(1));
        let window = table.windows.get(&key);
        if let Some(wait_ms) = window.and_then(|window| window.wait(before, WINDOW_MS, now_ms)) {
            return Err(wait_ms);
        }
        let outcome = compare();
        if matches!(outcome, Err(VerifyError::Wrong)) {
            table.record(key, tokens, now_ms);
        }
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests;
