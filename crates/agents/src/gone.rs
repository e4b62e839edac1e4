//! Decides whether the node of a turn is gone. The end of a turn's lease is a time of its node's clock. If it was
//! passed long ago, a clock may be wrong, so the turn is observed: a node that runs renews it.

use gatehouse_domain::id::TurnId;
use gatehouse_domain::{Clock, Timestamp};
use gatehouse_store::ChatTurnRow;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lease that ended longer ago is in doubt. Nodes that run find the others earlier.
const DOUBTED_MS: i64 = 5 * 60 * 1000;
/// How long a turn in doubt is observed: the time of two renewals.
const OBSERVED_MS: u64 = 30_000;

/// A lease in doubt, and when it was first seen, in milliseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
struct Seen {
    alive_until: Timestamp,
    at_ms: u64,
}

/// The turns in doubt.
#[derive(Debug, Default)]
pub(crate) struct GoneWatch(Mutex<HashMap<TurnId, Seen>>);

impl GoneWatch {
    fn lock(&self) -> MutexGuard<'_, HashMap<TurnId, Seen>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the node of this turn is gone.
    pub(crate) fn is_gone(&self, turn: &ChatTurnRow, clock: &dyn Clock) -> bool {
        let end_ms = turn.alive_until.as_millis();
        let late_ms = clock.now().as_millis().saturating_sub(end_ms);
        if late_ms <= DOUBTED_MS {
            return late_ms > 0;
        }
        let at_ms = clock.monotonic_ms();
        let mut all = self.lock();
        let seen = all.get(&turn.id).copied();
        if let Some(seen) = seen.filter(|seen| seen.alive_until == turn.alive_until) {
            return at_ms.saturating_sub(seen.at_ms) >= OBSERVED_MS;
        }
        let alive_until = turn.alive_until;
        all.insert(turn.id.clone(), Seen { alive_until, at_ms });
        false
    }

    /// Forgets all turns except these.
    pub(crate) fn keep_only(&self, turns: &[ChatTurnRow]) {
        self.lock()
            .retain(|id, _| turns.iter().any(|turn| turn.id == *id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::ManualClock;
    use gatehouse_domain::id::SessionId;
    use std::time::Duration;

    const START: i64 = 1_795_000_000_000;

    fn turn(late_ms: i64) -> ChatTurnRow {
        ChatTurnRow {
            id: TurnId::from_text("turn_a"),
            session_id: SessionId::from_text("ses_a"),
            turn_no: 1,
            node: "other".to_owned(),
            alive_until: Timestamp::from_millis(START - late_ms),
            text: String::new(),
            model: None,
        }
    }

    #[test]
    fn a_lease_that_just_ended_is_the_end_of_its_node() {
        let clock = ManualClock::at(Timestamp::from_millis(START));
        let watch = GoneWatch::default();
        for (late_ms, is_gone) in [
            (-1, false),
            (0, false),
            (1, true),
            (DOUBTED_MS, true),
            (DOUBTED_MS + 1, false),
        ] {
            assert_eq!(watch.is_gone(&turn(late_ms), &clock), is_gone, "{late_ms}");
        }
    }

    #[test]
    fn a_lease_that_ended_long_ago_is_observed() {
        let clock = ManualClock::at(Timestamp::from_millis(START));
        let watch = GoneWatch::default();
        let day = 86_400_000;
        for renewal in 0..10 {
            let turn = turn(day - renewal * 15_000);
            assert!(!watch.is_gone(&turn, &clock), "renewed");
            clock.advance(Duration::from_secs(40));
        }
        let last = turn(day);
        assert!(!watch.is_gone(&last, &clock));
        clock.advance(Duration::from_millis(OBSERVED_MS - 1));
        assert!(!watch.is_gone(&last, &clock), "at the limit");
        clock.advance(Duration::from_millis(1));
        assert!(watch.is_gone(&last, &clock));
        watch.keep_only(std::slice::from_ref(&last));
        assert!(watch.is_gone(&last, &clock));
        watch.keep_only(&[]);
        assert!(!watch.is_gone(&last, &clock), "seen for the first time");
    }
}
