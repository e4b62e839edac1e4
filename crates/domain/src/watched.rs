//! Decides, without a common clock, whether another process has stopped changing a value. Does no I/O.

/// The start and the end of a read of the database, in milliseconds of this process's monotonic clock. The read
/// returned the state of some moment between them. They are far apart if the database or this process was paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadSpan {
    pub began_ms: u64,
    pub ended_ms: u64,
}

/// A value that another process changes at intervals while it runs, and the time since this process has seen the
/// current value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched<T> {
    value: T,
    /// The end of the read that returned the value first. The value may have been written long after the beginning
    /// of that read.
    since_ms: u64,
}

impl<T: PartialEq> Watched<T> {
    /// Returns the state after a read that returned `value`. `before` is the state before the read.
    pub fn after(before: Option<Self>, value: T, read_ended_ms: u64) -> Self {
        match before {
            Some(known) if known.value == value => known,
            _ => Self {
                value,
                since_ms: read_ended_ms,
            },
        }
    }
}

impl<T> Watched<T> {
    pub const fn value(&self) -> &T {
        &self.value
    }

    /// Returns for how many milliseconds the value has certainly not changed, if a read that began at this time
    /// returned it.
    pub const fn unchanged_ms(&self, read_began_ms: u64) -> u64 {
        read_began_ms.saturating_sub(self.since_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_read_does_not_make_a_value_older() {
        // The value was new when the first read ended.
        let seen = Watched::after(None, 'a', 6_000);
        assert_eq!(seen.unchanged_ms(0), 0);
        // The value may have changed after the second read began.
        let seen = Watched::after(Some(seen), 'a', 90_000);
        assert_eq!(seen.unchanged_ms(7_000), 1_000);
        assert_eq!(*seen.value(), 'a');
    }

    #[test]
    fn another_value_is_new() {
        let seen = Watched::after(None, 1, 1_000);
        let seen = Watched::after(Some(seen), 2, 9_000);
        assert_eq!(seen.unchanged_ms(9_001), 1);
        let seen = Watched::after(Some(seen), 1, 9_002);
        assert_eq!(seen.unchanged_ms(9_002), 0, "it was seen before the other");
    }
}
