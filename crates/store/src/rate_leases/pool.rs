//! The permits of one limit in this process.

use super::{EXPIRY_MS, MOST, Moment, PART, REFUSED_MS, RateRefused, SOON_MS};
use crate::rate_permits::RateLease;
use gatehouse_domain::Timestamp;
use std::sync::Arc;

/// Permits to return to the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unused {
    pub(super) count: u32,
    pub(super) leased_at: Timestamp,
}

/// The permits of a limit on this node. Times are in milliseconds of the monotonic clock.
#[derive(Debug)]
pub(super) struct Pool {
    left: u32,
    /// Number of permits that are neither used nor returned yet.
    undecided: usize,
    /// The size of the last batch.
    batch: u32,
    taken_at_ms: u64,
    /// When the last batch was taken, by the clock of the database.
    leased_at: Timestamp,
    refusal: Option<Refusal>,
    /// Locked while a batch is taken from the database.
    pub(super) leasing: Arc<tokio::sync::Mutex<()>>,
}

/// The result of a query that granted no permit.
#[derive(Clone, Copy, Debug)]
struct Refusal {
    limit: u32,
    /// When the next permits become free.
    free_at_ms: u64,
    /// Until when the refusal is repeated without a query.
    until_ms: u64,
}

impl Default for Pool {
    fn default() -> Self {
        Self {
            left: 0,
            undecided: 0,
            batch: 0,
            taken_at_ms: 0,
            leased_at: Timestamp::from_millis(0),
            refusal: None,
            leasing: Arc::default(),
        }
    }
}

impl Pool {
    /// Takes `count` permits of the last batch, or repeats a refusal. Returns `None` if the database must be
    /// queried.
    pub(super) fn take(
        &mut self,
        count: u32,
        limit: u32,
        now_ms: u64,
    ) -> Option<Result<(), RateRefused>> {
        if self.left >= count && !self.is_expired(now_ms) {
            self.left -= count;
            self.undecided += 1;
            return Some(Ok(()));
        }
        self.refused(limit, now_ms).map(Err)
    }

    pub(super) fn refused(&self, limit: u32, now_ms: u64) -> Option<RateRefused> {
        let refusal = self
            .refusal
            .filter(|it| it.limit == limit && now_ms < it.until_ms)?;
        Some(RateRefused {
            wait_ms: refusal.free_at_ms.saturating_sub(now_ms).max(1),
            undecided: self.undecided > 0,
        })
    }

    const fn is_expired(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.taken_at_ms) >= EXPIRY_MS
    }

    /// Removes and returns the unused permits.
    pub(super) fn take_unused(&mut self) -> Unused {
        Unused {
            count: std::mem::take(&mut self.left),
            leased_at: self.leased_at,
        }
    }

    /// Ends a used-up or expired batch. Returns its unused permits and the size of the next batch. If the batch was
    /// used up soon, the next size is twice the last one. Otherwise it is the number of used permits.
    pub(super) fn begin_batch(&mut self, count: u32, limit: u32, now_ms: u64) -> (Unused, u32) {
        let unused = self.take_unused();
        let used = self.batch.saturating_sub(unused.count);
        let is_soon = now_ms.saturating_sub(self.taken_at_ms) < SOON_MS;
        let next = if unused.count == 0 && is_soon {
            self.batch.saturating_mul(2)
        } else {
            used
        };
        (
            unused,
            next.clamp(1, (limit / PART).clamp(1, MOST)).max(count),
        )
    }

    /// Adds a batch to the permits that were returned since [`Self::begin_batch`]. The query began at `at` and
    /// ended at `now_ms`.
    pub(super) fn add(
        &mut self,
        lease: RateLease,
        (count, limit): (u32, u32),
        at: Moment,
        (now_ms, wait_ms): (u64, u64),
    ) {
        self.left = self.left.saturating_add(lease.granted);
        self.batch = lease.granted;
        self.taken_at_ms = at.monotonic_ms;
        self.leased_at = at.time;
        self.refusal = (self.left < count).then(|| Refusal {
            limit,
            free_at_ms: now_ms.saturating_add(wait_ms),
            until_ms: now_ms.saturating_add(wait_ms.min(REFUSED_MS)),
        });
    }

    /// Decides undecided permits: they were used, or are returned.
    pub(super) fn settle(&mut self, count: u32, is_used: bool) {
        self.undecided = self.undecided.saturating_sub(1);
        if !is_used {
            self.left = self.left.saturating_add(count);
            self.refusal = None;
        }
    }

    /// Returns whether the pool can be dropped after its unused permits are returned.
    pub(super) fn is_idle(&self, now_ms: u64) -> bool {
        self.undecided == 0
            && self.is_expired(now_ms)
            && self
                .refusal
                .is_none_or(|refusal| now_ms >= refusal.until_ms)
            && Arc::strong_count(&self.leasing) == 1
    }
}
