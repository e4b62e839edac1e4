//! Table `duties`: recurring work that only one of several nodes does, such as deleting old records.

use crate::sql::{columns, query};
use crate::{Conn, Store, StoreError};
use gatehouse_domain::{Clock, Timestamp};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A row of `duties`.
struct DutyRow {
    node: String,
    until: Timestamp,
}

columns! { DutyRow: node, until }

/// Recurring work that one node does. The node that claims a duty keeps it while it renews the claim in time. While
/// a node has no valid measurement of the database clock, it uses its own clock. If that clock is wrong by more
/// than the lease, two nodes may have the duty.
#[derive(Debug)]
pub struct Duty {
    name: &'static str,
    lease: Duration,
    held: Mutex<Held>,
}

/// The end of this node's claim, on two clocks. The claim has ended when one of them has passed it: the monotonic
/// clock stops while the host is suspended.
#[derive(Clone, Copy, Debug)]
struct Held {
    monotonic_ms: u64,
    /// The end by the clock of the database.
    until: Timestamp,
}

impl Duty {
    /// Creates a duty. If its node is gone, another node takes the duty over after `lease`, which must be longer
    /// than twice the time between two claims.
    pub const fn new(name: &'static str, lease: Duration) -> Self {
        Self {
            name,
            lease,
            held: Mutex::new(Held {
                monotonic_ms: 0,
                until: Timestamp::from_millis(i64::MIN),
            }),
        }
    }

    /// Claims the duty for `node`. Returns `false` while another node holds it. On a database of a single node,
    /// always returns `true`.
    pub async fn claim(
        &self,
        store: &Store,
        clock: &Arc<dyn Clock>,
        node: &str,
    ) -> Result<bool, StoreError> {
        if !store.engine().is_shared() {
            return Ok(true);
        }
        let lease_ms = u64::try_from(self.lease.as_millis()).unwrap_or(u64::MAX);
        let now = store.shared_now(clock).await;
        let begun_ms = clock.monotonic_ms();
        let held = *self.held();
        // A claim costs a write, so it is renewed only in the second half of the lease.
        if begun_ms.saturating_add(lease_ms / 2) < held.monotonic_ms
            && now.after(self.lease / 2) < held.until
        {
            return Ok(true);
        }
        let (name, node) = (self.name, node.to_owned());
        let held_by = store.read(move |conn| Box::pin(async move { conn.find_duty(name).await }));
        let held_by: Option<DutyRow> = held_by.await?;
        let until = now.after(self.lease);
        // Limits the claim of a node whose clock was ahead. Otherwise other nodes would not get the duty for a long
        // time after the node is gone.
        let latest = until.after(self.lease);
        if held_by.is_some_and(|row| row.node != node && row.until > now && row.until <= latest) {
            return Ok(false);
        }
        let claim = store.write(move |conn| {
            Box::pin(async move {
                conn.claim_duty((name, node.as_str()), now, until, latest)
                    .await
            })
        });
        let is_ours: bool = claim.await?;
        if !is_ours {
            return Ok(false);
        }
        let end_ms = begun_ms.saturating_add(lease_ms);
        *self.held() = Held {
            monotonic_ms: end_ms,
            until,
        };
        // If this process was suspended during the claim, another node may already have the duty.
        Ok(clock.monotonic_ms() < end_ms)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Conn {
    async fn find_duty(&mut self, name: &str) -> Result<Option<DutyRow>, StoreError> {
        let query = query("SELECT node, until FROM duties WHERE name = $1");
        self.find(query.bind(name)).await
    }

    /// Claims the duty for `node`, unless another node holds it until a time between `now` and `latest`.
    async fn claim_duty(
        &mut self,
        (name, node): (&str, &str),
        now: Timestamp,
        until: Timestamp,
        latest: Timestamp,
    ) -> Result<bool, StoreError> {
        let query = query(
            "INSERT INTO duties (name, node, until) VALUES ($1, $2, $3)
             ON CONFLICT (name) DO UPDATE SET node = excluded.node, until = excluded.until
             WHERE duties.node = excluded.node OR duties.until <= $4 OR duties.until > $5",
        );
        let query = query
            .bind(name)
            .bind(node)
            .bind(until.as_millis())
            .bind(now.as_millis())
            .bind(latest.as_millis());
        Ok(self.run(query).await? > 0)
    }
}

#[cfg(test)]
mod tests;
