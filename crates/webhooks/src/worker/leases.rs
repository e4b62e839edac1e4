//! Detects expired leases of other nodes. Pure.
//!
//! A lease contains an expiry time, but no node relies on it, because clocks differ between machines and can
//! jump. The owner writes a new value every third of the lease duration, and other nodes only observe whether
//! it changes. If a node sees the same value for a whole lease duration on its monotonic clock, the lease is
//! no longer renewed.

use gatehouse_domain::DeliveryId;
use gatehouse_store::LeaseRow;
use std::collections::HashMap;

/// The leases of other nodes, with the monotonic time in milliseconds at which each value was first seen.
#[derive(Debug, Default)]
pub(crate) struct LeaseWatch {
    seen: HashMap<DeliveryId, (LeaseRow, u64)>,
}

impl LeaseWatch {
    /// Compares the leases in the database with the earlier ones. Returns leases that were not renewed for `lease_ms`,
    /// except `own`.
    pub(crate) fn lost(
        &mut self,
        rows: Vec<LeaseRow>,
        own: &str,
        monotonic_ms: u64,
        lease_ms: u64,
    ) -> Vec<LeaseRow> {
        let mut seen = HashMap::with_capacity(rows.len());
        let mut lost = Vec::new();
        for row in rows.into_iter().filter(|row| row.owner != own) {
            let since = match self.seen.remove(&row.id) {
                Some((before, since)) if before == row => since,
                _ => monotonic_ms,
            };
            if monotonic_ms.saturating_sub(since) >= lease_ms {
                lost.push(row.clone());
            }
            seen.insert(row.id.clone(), (row, since));
        }
        self.seen = seen;
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::Timestamp;

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
        assert_eq!(watch.lost(vec![a()], "me", 1_000, 60_000), []);
        assert_eq!(watch.lost(vec![a()], "me", 60_999, 60_000), []);
        assert_eq!(watch.lost(vec![a()], "me", 61_000, 60_000), [a()]);
    }

    #[test]
    fn a_renewed_lease_holds_whatever_time_it_names() {
        let mut watch = LeaseWatch::default();
        for step in 0..10 {
            // The other node's clock runs backwards.
            let rows = vec![row("a", "other", -step)];
            let now = u64::try_from(step).unwrap() * 50_000;
            assert_eq!(watch.lost(rows, "me", now, 60_000), [], "{step}");
        }
    }

    #[test]
    fn a_new_owner_restarts_the_wait_and_the_own_lease_never_expires() {
        let mut watch = LeaseWatch::default();
        let rows = |owner| vec![row("a", owner, 5), row("b", "me", 5)];
        assert_eq!(watch.lost(rows("one"), "me", 0, 60_000), []);
        assert_eq!(watch.lost(rows("two"), "me", 60_000, 60_000), []);
        assert_eq!(watch.lost(vec![], "me", 90_000, 60_000), []);
        assert_eq!(watch.lost(rows("two"), "me", 120_000, 60_000), []);
    }
}
