//! Counts of open deliveries for statistics. Counting a long queue takes time, so the last count is used until the
//! next one is complete. The next count runs in the background.

use crate::handle::Inner;
use gatehouse_store::{OpenCount, StoreError};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The minimum length of a queue whose count is cached.
const LONG_QUEUE: i64 = 2000;
/// The divisor for the maximum share of time that counting a long queue takes.
const MAX_SHARE: u64 = 20;
/// The maximum age of a cached count, in milliseconds. A newer count runs in the background.
const MAX_AGE_MS: u64 = 60_000;
/// While the queue is long, a new count starts after this time even if no reader requests one.
const RENEWED_MS: u64 = MAX_AGE_MS / 2;

/// The last count.
#[derive(Debug, Default)]
pub(crate) struct OpenCounts {
    last: Mutex<Option<Count>>,
    /// Locked during a count.
    making: tokio::sync::Mutex<()>,
    /// Notified when a newer count is requested.
    wanted: Notify,
}

#[derive(Clone, Debug)]
struct Count {
    open: Arc<[OpenCount]>,
    /// The number of open deliveries.
    total: i64,
    /// When the count was complete, by the monotonic clock.
    made_ms: u64,
    took_ms: u64,
}

/// Whether a count may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Age {
    Fresh,
    /// The count may be used, but a newer one is requested.
    Stale,
    Expired,
}

impl Count {
    const fn age(&self, now_ms: u64) -> Age {
        let age_ms = now_ms.saturating_sub(self.made_ms);
        if self.total < LONG_QUEUE {
            Age::Expired
        } else if age_ms < self.took_ms.saturating_mul(MAX_SHARE) {
            Age::Fresh
        } else if age_ms < MAX_AGE_MS {
            Age::Stale
        } else {
            Age::Expired
        }
    }
}

impl OpenCounts {
    /// Requests a count if the queue is long and the last count is not recent, so that readers do not wait for one.
    /// If the queue is short, the next reader counts it.
    pub(crate) fn note_depth(&self, depth: i64, now_ms: u64) {
        if depth < LONG_QUEUE {
            self.set(None);
            return;
        }
        let is_recent = |last: Count| match last.age(now_ms) {
            Age::Fresh => true,
            Age::Stale => now_ms.saturating_sub(last.made_ms) < RENEWED_MS,
            Age::Expired => false,
        };
        if !self.last().is_some_and(is_recent) {
            self.wanted.notify_one();
        }
    }

    fn last(&self) -> Option<Count> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.clone()
    }

    fn set(&self, count: Option<Count>) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = count;
    }
}

/// Makes newer counts when they are requested, until `stop`.
pub(crate) async fn serve(inner: Arc<Inner>, stop: CancellationToken) {
    let counts = async {
        loop {
            inner.open_counts.wanted.notified().await;
            if let Err(error) = inner.make_open_counts().await {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "the open deliveries could not be counted");
            }
        }
    };
    stop.run_until_cancelled(counts).await;
}

impl Inner {
    /// Counts the open deliveries. With a long queue, returns an earlier count.
    pub(crate) async fn count_open_deliveries(&self) -> Result<Arc<[OpenCount]>, StoreError> {
        let now = self.clock.monotonic_ms();
        match self.open_counts.last().map(|last| (last.age(now), last)) {
            Some((Age::Fresh, last)) => Ok(last.open),
            Some((Age::Stale, last)) => {
                self.open_counts.wanted.notify_one();
                Ok(last.open)
            }
            Some((Age::Expired, _)) | None => self.make_open_counts().await,
        }
    }

    async fn make_open_counts(&self) -> Result<Arc<[OpenCount]>, StoreError> {
        let making = self.open_counts.making.lock().await;
        let began = self.clock.monotonic_ms();
        if let Some(last) = self.open_counts.last()
            && last.age(began) == Age::Fresh
        {
            return Ok(last.open);
        }
        let counted = self
            .store
            .read(|conn| Box::pin(async move { conn.list_open_delivery_counts().await }));
        let counted: Vec<OpenCount> = counted.await?;
        let open: Arc<[OpenCount]> = Arc::from(counted);
        let made_ms = self.clock.monotonic_ms();
        self.open_counts.set(Some(Count {
            open: Arc::clone(&open),
            total: open.iter().map(|open| open.count.count).sum(),
            made_ms,
            took_ms: made_ms.saturating_sub(began),
        }));
        drop(making);
        Ok(open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    fn count(took_ms: u64) -> Count {
        Count {
            open: Arc::from([]),
            total: LONG_QUEUE,
            made_ms: 1000,
            took_ms,
        }
    }

    #[test]
    fn a_short_queue_is_counted_each_time() {
        let short = Count {
            total: LONG_QUEUE - 1,
            ..count(300)
        };
        assert_eq!(short.age(1000), Age::Expired);
        assert_eq!(count(300).age(1000), Age::Fresh);
    }

    #[test]
    fn a_long_queue_is_counted_before_a_reader_wants_it() {
        let counts = OpenCounts::default();
        let is_wanted = || counts.wanted.notified().now_or_never().is_some();
        counts.note_depth(LONG_QUEUE - 1, 1000);
        assert!(!is_wanted());
        counts.note_depth(LONG_QUEUE, 1000);
        assert!(is_wanted());
        counts.set(Some(count(300)));
        counts.note_depth(LONG_QUEUE, 1000 + RENEWED_MS - 1);
        assert!(!is_wanted());
        counts.note_depth(LONG_QUEUE, 1000 + RENEWED_MS);
        assert!(is_wanted());
        assert!(counts.last().is_some());
        counts.note_depth(LONG_QUEUE - 1, 1000);
        assert!(!is_wanted() && counts.last().is_none());
    }

    #[test]
    fn a_long_queue_is_counted_in_a_fraction_of_the_time_and_at_least_once_a_minute() {
        let slow = count(300);
        assert_eq!(slow.age(1000 + 5999), Age::Fresh);
        assert_eq!(slow.age(1000 + 6000), Age::Stale);
        assert_eq!(slow.age(1000 + 59_999), Age::Stale);
        assert_eq!(slow.age(1000 + 60_000), Age::Expired);
        assert_eq!(count(4000).age(1000 + 79_999), Age::Fresh);
        assert_eq!(count(4000).age(1000 + 80_000), Age::Expired);
    }
}
