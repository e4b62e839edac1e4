//! The count of queued deliveries. Decides when to count the queue. Does no I/O.

/// Minimum time between two counts, in milliseconds.
const MIN_INTERVAL_MS: u64 = 1000;
/// The divisor for the maximum share of time that counting the queue takes, because counting a long queue is
/// expensive.
const MAX_SHARE: u64 = 20;

/// The last count of queued deliveries.
#[derive(Debug, Default)]
pub(super) struct QueueGauge {
    /// `None` if the queue may have changed since the last count.
    depth: Option<i64>,
    /// When the queue may be counted again, by the monotonic clock.
    next_ms: u64,
}

impl QueueGauge {
    /// Marks the count as out of date.
    pub(super) const fn expire(&mut self) {
        self.depth = None;
    }

    /// Returns whether to count the queue now. An empty queue is not counted again until the count expires.
    pub(super) const fn is_due(&self, now_ms: u64) -> bool {
        !self.is_zero() && now_ms >= self.next_ms
    }

    /// Stores a count and the times at which counting began and ended.
    pub(super) const fn set(&mut self, depth: i64, began_ms: u64, ended_ms: u64) {
        let pause = ended_ms.saturating_sub(began_ms).saturating_mul(MAX_SHARE);
        let pause = if pause < MIN_INTERVAL_MS {
            MIN_INTERVAL_MS
        } else {
            pause
        };
        self.depth = Some(depth);
        self.next_ms = ended_ms.saturating_add(pause);
    }

    /// Returns whether the queue must be counted later, because counting was not allowed yet.
    pub(super) const fn is_out_of_date(&self) -> bool {
        self.depth.is_none()
    }

    /// Returns whether no delivery is queued, including deliveries outside the queue's index.
    pub(super) const fn is_zero(&self) -> bool {
        matches!(self.depth, Some(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_right_after_a_count_is_counted_later_and_an_empty_queue_only_once() {
        let mut gauge = QueueGauge::default();
        assert!(gauge.is_due(0) && gauge.is_out_of_date() && !gauge.is_zero());
        gauge.set(0, 10, 10);
        assert!(gauge.is_zero() && !gauge.is_due(1_000_000));
        gauge.expire();
        assert!(!gauge.is_due(1009) && gauge.is_out_of_date() && !gauge.is_zero());
        assert!(gauge.is_due(1010));
        gauge.set(3, 1010, 1110);
        assert!(!gauge.is_due(3109) && gauge.is_due(3110) && !gauge.is_out_of_date());
    }
}
