//! Decides whether the node of a turn is gone. The clocks of other nodes are not used: a running node renews its turns,
//! and the other nodes measure the renewals with their own monotonic clocks.

use crate::lost::LEASE_MS;
use gatehouse_domain::id::TurnId;
use gatehouse_domain::{ReadSpan, Timestamp, Watched};
use gatehouse_store::ChatTurnRow;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The turns of other nodes, with their leases.
#[derive(Debug, Default)]
pub(crate) struct GoneWatch(Mutex<HashMap<TurnId, Watched<Timestamp>>>);

impl GoneWatch {
    fn lock(&self) -> MutexGuard<'_, HashMap<TurnId, Watched<Timestamp>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the node that runs `turn` is gone. `read` is the time span of the read that returned the turn.
    pub(crate) fn is_gone(&self, turn: &ChatTurnRow, read: ReadSpan) -> bool {
        let mut all = self.lock();
        let before = all.remove(&turn.id);
        let watched = Watched::after(before, turn.alive_until, read.ended_ms);
        all.insert(turn.id.clone(), watched);
        watched.unchanged_ms(read.began_ms) >= LEASE_MS
    }

    /// Removes all turns except these.
    pub(crate) fn keep_only(&self, turns: &[ChatTurnRow]) {
        self.lock()
            .retain(|id, _| turns.iter().any(|turn| turn.id == *id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::id::SessionId;

    fn turn(alive_until: i64) -> ChatTurnRow {
        ChatTurnRow {
            id: TurnId::from_text("turn_a"),
            session_id: SessionId::from_text("ses_a"),
            turn_no: 1,
            node: "other".to_owned(),
            alive_until: Timestamp::from_millis(alive_until),
            text: String::new(),
            model: None,
        }
    }

    /// Returns a read that began and ended at this time.
    const fn at(ms: u64) -> ReadSpan {
        ReadSpan {
            began_ms: ms,
            ended_ms: ms,
        }
    }

    #[test]
    fn a_node_that_does_not_renew_its_turn_for_a_whole_lease_is_gone() {
        let watch = GoneWatch::default();
        assert!(!watch.is_gone(&turn(5), at(1_000)));
        assert!(!watch.is_gone(&turn(5), at(999 + LEASE_MS)), "at the limit");
        assert!(watch.is_gone(&turn(5), at(1_000 + LEASE_MS)));
        let last = turn(5);
        watch.keep_only(std::slice::from_ref(&last));
        assert!(watch.is_gone(&last, at(1_000 + LEASE_MS)));
        watch.keep_only(&[]);
        let forgotten = at(1_000 + 2 * LEASE_MS);
        assert!(!watch.is_gone(&last, forgotten), "seen for the first time");
    }

    #[test]
    fn a_node_that_renews_its_turn_is_not_gone_whatever_its_clock_shows() {
        let watch = GoneWatch::default();
        for (renewal, alive_until) in (0..10).zip([0, -1, 900, 5, 4, 3, i64::MAX, 7, 8, i64::MIN]) {
            let read = at(renewal * (LEASE_MS - 1));
            assert!(!watch.is_gone(&turn(alive_until), read), "{renewal}");
        }
    }

    #[test]
    fn a_node_that_renewed_its_turn_during_a_slow_read_is_not_gone() {
        let watch = GoneWatch::default();
        let slow = |began_ms, ended_ms| ReadSpan { began_ms, ended_ms };
        assert!(!watch.is_gone(&turn(5), slow(0, LEASE_MS)));
        assert!(!watch.is_gone(&turn(5), at(LEASE_MS + 1)));
        let read = slow(2 * LEASE_MS - 1, 9 * LEASE_MS);
        assert!(!watch.is_gone(&turn(5), read));
        assert!(watch.is_gone(&turn(5), slow(2 * LEASE_MS, 9 * LEASE_MS)));
    }
}
