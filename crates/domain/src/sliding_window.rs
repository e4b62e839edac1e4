//! An exact sliding window. It contains only the times of the counted events in the window.

use std::collections::VecDeque;

/// The event times, oldest first, as the low 32 bits of a millisecond clock. With 4 bytes per event, the windows of
/// very many clients stay small. Ages are correct if no window is idle for 49 days; `KeyedWindows::sweep` drops
/// idle windows long before that.
#[derive(Clone, Debug, Default)]
pub struct SlidingWindow {
    moments: VecDeque<u32>,
}

impl SlidingWindow {
    /// Returns how many milliseconds to wait until one more event keeps every `window_ms` at or below `limit`;
    /// `None` if there is no wait.
    pub fn wait(&self, limit: u32, window_ms: u32, now_ms: u64) -> Option<u64> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        // The event that must leave the window before another event may be counted.
        let blocking = self.moments.get(self.moments.len().checked_sub(limit)?)?;
        let left = window_ms.checked_sub(age(*blocking, now_ms))?;
        (left > 0).then_some(u64::from(left))
    }

    /// Counts one event and drops expired ones.
    pub fn record(&mut self, window_ms: u32, now_ms: u64) {
        while self
            .moments
            .front()
            .is_some_and(|moment| age(*moment, now_ms) >= window_ms)
        {
            self.moments.pop_front();
        }
        self.moments.push_back(low_bits(now_ms));
    }

    /// Removes an event that was counted at `at_ms` but did not happen.
    pub fn take_back(&mut self, at_ms: u64) {
        let at = low_bits(at_ms);
        if let Some(place) = self.moments.iter().rposition(|moment| *moment == at) {
            self.moments.remove(place);
        }
    }

    /// Returns whether every event has expired.
    pub fn is_idle(&self, window_ms: u32, now_ms: u64) -> bool {
        self.moments
            .back()
            .is_none_or(|moment| age(*moment, now_ms) >= window_ms)
    }

    /// Returns the heap memory in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.moments.capacity() * size_of::<u32>()
    }
}

fn age(moment: u32, now_ms: u64) -> u32 {
    low_bits(now_ms).wrapping_sub(moment)
}

fn low_bits(now_ms: u64) -> u32 {
    u32::try_from(now_ms & u64::from(u32::MAX)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_back_does_not_count() {
        let mut window = SlidingWindow::default();
        for at in [10, 20, 20, 30] {
            window.record(100, at);
        }
        assert_eq!(window.wait(4, 100, 40), Some(70));
        window.take_back(20);
        assert_eq!(window.wait(4, 100, 40), None);
        assert_eq!(
            window.wait(3, 100, 40),
            Some(70),
            "the oldest is still the one at 10"
        );
        window.take_back(5);
        assert_eq!(window.wait(3, 100, 40), Some(70), "nothing happened at 5");
        window.take_back(10);
        assert_eq!(window.wait(2, 100, 40), Some(80));
    }
}
