//! When somebody else's lease is over. Pure.
//!
//! A lease carries a time of day, but no node trusts it: clocks differ between machines, and jump. A
//! node that works on a delivery writes a new time every third of the lease; that the text changes is
//! all that others look at. Whoever has seen the same text for a whole lease, by a clock that only ever
//! grows, knows that nobody renews it.

use gatehouse_domain::DeliveryId;
use gatehouse_store::LeaseRow;
use std::collections::HashMap;

/// What this node saw of others' leases, and since when.
#[derive(Debug, Default)]
pub(crate) struct LeaseWatch {
    seen: HashMap<DeliveryId, (LeaseRow, u64)>,
}

impl LeaseWatch {
    /// Takes in what stands in the database now; which of them nobody has renewed for `lease_ms`.
    /// Those of `own` are left out: it knows what it works on.
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
    fn a_new_owner_begins_anew_and_ones_own_never_ends() {
        let mut watch = LeaseWatch::default();
        let rows = |owner| vec![row("a", owner, 5), row("b", "me", 5)];
        assert_eq!(watch.lost(rows("one"), "me", 0, 60_000), []);
        assert_eq!(watch.lost(rows("two"), "me", 60_000, 60_000), []);
        assert_eq!(watch.lost(vec![], "me", 90_000, 60_000), []);
        assert_eq!(watch.lost(rows("two"), "me", 120_000, 60_000), []);
    }
}
