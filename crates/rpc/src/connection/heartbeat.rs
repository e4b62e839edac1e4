//! Decides when to ping a client and when to consider it disconnected.

/// The interval between pings, in milliseconds.
pub const EVERY_MS: u64 = 30_000;
/// The number of unanswered pings that end a connection.
const MISSED: u8 = 2;

/// The action that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beat {
    Nothing,
    Ping,
    /// The client did not answer.
    Gone,
}

#[derive(Debug)]
pub(super) struct Heartbeat {
    last_ms: u64,
    unanswered: u8,
}

impl Heartbeat {
    pub(super) const fn begin(now_ms: u64) -> Self {
        Self {
            last_ms: now_ms,
            unanswered: 0,
        }
    }

    /// Records that a message arrived. Any message counts as a sign of life, because a long message
    /// delays the pong behind it.
    pub(super) const fn heard(&mut self) {
        self.unanswered = 0;
    }

    pub(super) const fn at(&mut self, now_ms: u64) -> Beat {
        if now_ms.saturating_sub(self.last_ms) < EVERY_MS {
            return Beat::Nothing;
        }
        if self.unanswered >= MISSED {
            return Beat::Gone;
        }
        self.last_ms = now_ms;
        self.unanswered += 1;
        Beat::Ping
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_missed_pings_end_it() {
        let mut heart = Heartbeat::begin(0);
        assert_eq!(heart.at(29_999), Beat::Nothing);
        assert_eq!(heart.at(30_000), Beat::Ping);
        assert_eq!(heart.at(59_999), Beat::Nothing);
        assert_eq!(heart.at(60_000), Beat::Ping);
        assert_eq!(heart.at(89_999), Beat::Nothing);
        assert_eq!(heart.at(90_000), Beat::Gone);
    }

    #[test]
    fn one_answer_starts_the_count_again() {
        let mut heart = Heartbeat::begin(0);
        assert_eq!(heart.at(30_000), Beat::Ping);
        assert_eq!(heart.at(60_000), Beat::Ping);
        heart.heard();
        assert_eq!(heart.at(90_000), Beat::Ping);
        assert_eq!(heart.at(120_000), Beat::Ping);
        assert_eq!(heart.at(150_000), Beat::Gone);
    }
}
