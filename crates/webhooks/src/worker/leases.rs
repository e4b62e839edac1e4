//! Detects expired leases of other nodes. Does no I/O.
//!
//! A lease contains an expiry time, but no node relies on it, because clocks differ between machines and can jump.
//! The owner writes a new value every third of the lease duration, and other nodes check only whether the value
//! changes. If a node reads the same value for a whole lease duration on its monotonic clock, the owner no longer
//! renews the lease.

use gatehouse_domain::{DeliveryId, ReadSpan, Watched};
use gatehouse_store::LeaseRow;
use std::collections::HashMap;

/// The leases of other nodes.
#[derive(Debug, Default)]
pub(crate) struct LeaseWatch {
    seen: HashMap<DeliveryId, Watched<LeaseRow>>,
}

impl LeaseWatch {
    /// Compares the leases of a read with earlier ones. Returns leases that were not renewed for `lease_ms`, except
    /// `own`.
    pub(crate) fn lost(
        &mut self,
        rows: Vec<LeaseRow>,
        own: &str,
        read: ReadSpan,
        lease_ms: u64,
    ) -> Vec<LeaseRow> {
        let mut seen = HashMap::with_capacity(rows.len());
        let mut lost = Vec::new();
        for row in rows.into_iter().filter(|row| row.owner != own) {
            let id = row.id.clone();
            let watched = Watched::after(self.seen.remove(&id), row, read.ended_ms);
            if watched.unchanged_ms(read.began_ms) >= lease_ms {
                lost.push(watched.value().clone());
            }
            seen.insert(id, watched);
        }
        self.seen = seen;
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::Timestamp;

    /// Returns the span of a read that took no time.
    const fn at(ms: u64) -> ReadSpan {
        ReadSpan {
            began_ms: ms,
            ended_ms: ms,
        }
    }

    fn row(id: &str, owner: &str, until: i64) -> LeaseRow {
        LeaseRow {
            id: DeliveryId::from_text(id),
            owner: owner.to_owned(),
            until: Timestamp::from_millis(until),
            attempts: 1,
        }
    }

    #[test]
    fn a_lease_is_lost_when_it_stood_still_for_its_whole_length() {
        let mut watch = LeaseWatch::default();
        let a = || row("a", "other", 5);
        assert_eq!(watch.lost(vec![a()], "me", at(1_000), 60_000), []);
        assert_eq!(watch.lost(vec![a()], "me", at(60_999), 60_000), []);
        assert_eq!(watch.lost(vec![a()], "me", at(61_000), 60_000), [a()]);
    }

    #[test]
    fn a_slow_read_neither_ages_a_lease_nor_hides_its_renewal() {
        let mut watch = LeaseWatch::default();
        let renewed = || row("a", "other", 5);
        let slow = |began_ms, ended_ms| ReadSpan { began_ms, ended_ms };
        // The lease was renewed immediately before the end of the read.
        assert_eq!(watch.lost(vec![renewed()], "me", slow(0, 6_000), 5_000), []);
        assert_eq!(watch.lost(vec![renewed()], "me", at(7_000), 5_000), []);
        // The state that a read returns may be as old as the beginning of the read.
        let read = slow(10_999, 60_000);
        assert_eq!(watch.lost(vec![renewed()], "me", read, 5_000), []);
        let lost = watch.lost(vec![renewed()], "me", slow(11_000, 60_000), 5_000);
        assert_eq!(lost, [renewed()]);
    }

    #[test]
    fn a_renewed_lease_holds_whatever_time_it_names() {
        let mut watch = LeaseWatch::default();
        for step in 0..10 {
            // The other node's clock runs backwards.
            let rows = vec![row("a", "other", -step)];
            let now = u64::try_from(step).unwrap() * 50_000;
            assert_eq!(watch.lost(rows, "me", at(now), 60_000), [], "{step}");
        }
    }

    #[test]
    fn a_new_owner_restarts_the_wait_and_the_own_lease_never_expires() {
        let mut watch = LeaseWatch::default();
        let rows = |owner| vec![row("a", owner, 5), row("b", "me", 5)];
        assert_eq!(watch.lost(rows("one"), "me", at(0), 60_000), []);
        assert_eq!(watch.lost(rows("two"), "me", at(60_000), 60_000), []);
        assert_eq!(watch.lost(vec![], "me", at(90_000), 60_000), []);
        assert_eq!(watch.lost(rows("two"), "me", at(120_000), 60_000), []);
    }
}
