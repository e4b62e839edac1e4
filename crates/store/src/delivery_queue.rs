//! Table `webhook_deliveries` as a queue: finish, requeue and park deliveries.
//!
//! Transactions that change open deliveries run in [`crate::Store::write_queue`]. Only one of them runs at a time
//! in the whole database, so the rows that a claim reads do not change before it writes, on any node. Only two
//! kinds of changes can run at the same time: inserts, and changes of the time at which a delivery is due.
//!
//! **Parking.** Only the oldest open delivery of a session may run. If a claim finds that a younger delivery is
//! due, it sets `next_attempt_at` to `NULL`, which removes the delivery from the index of the queue. The
//! transaction that ends the older delivery makes the next one due again. A claim therefore reads each waiting
//! delivery once. A delivery that waits for the vault is also parked, with [`WAITS_FOR_VAULT`] as its error.
//!
//! A claim ([`crate::delivery_claim`]) takes deliveries from given lines: see [`crate::delivery_lines`].

mod finish;
mod requeue;

use crate::sql::{FromRow, Row, Value, query};
use crate::status_conditions::is_open;
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// The `error` of a delivery that waits until the vault is unlocked.
pub const WAITS_FOR_VAULT: &str = "Waits until the vault is unsealed.";
/// The `error` of a delivery that was restored from a backup and waits until the owner releases it.
pub const WAITS_FOR_RELEASE: &str = "Restored from a backup. Waits until it is released.";

/// Maximum number of deliveries that one statement of a claim reads from a line. Also the maximum for one update.
pub(crate) const PAGE: usize = 64;

/// The oldest open delivery of a session.
#[derive(Clone)]
pub(crate) struct Head {
    pub(crate) id: String,
    pub(crate) webhook_id: String,
    pub(crate) target: Option<String>,
    /// Whether the delivery is parked, but waits neither for the vault nor for the owner. Nothing prevents it from
    /// running.
    pub(crate) is_free: bool,
}

impl FromRow for Head {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        let status: String = row.try_get("status")?;
        let place: Option<i64> = row.try_get("next_attempt_at")?;
        let error: Option<String> = row.try_get("error")?;
        Ok(Self {
            id: row.try_get("id")?,
            webhook_id: row.try_get("webhook_id")?,
            target: row.try_get("target")?,
            is_free: status != "processing"
                && place.is_none()
                && !matches!(error.as_deref(), Some(WAITS_FOR_VAULT | WAITS_FOR_RELEASE)),
        })
    }
}

/// Builds a statement with a list of [`PAGE`] parameters, from `$2` on.
macro_rules! page_from_2 {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "($2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24,\
             $25,$26,$27,$28,$29,$30,$31,$32,$33,$34,$35,$36,$37,$38,$39,$40,$41,$42,$43,$44,$45,\
             $46,$47,$48,$49,$50,$51,$52,$53,$54,$55,$56,$57,$58,$59,$60,$61,$62,$63,$64,$65)",
            $after
        )
    };
}

pub(crate) use finish::EndedRow;
pub use finish::{DeliveryEnd, DeliveryFinish};
pub(crate) use page_from_2;
pub use requeue::DeliveryRequeue;

impl Conn {
    /// Returns the oldest open delivery of a session.
    pub(crate) async fn find_head(
        &mut self,
        session_key: &str,
    ) -> Result<Option<Head>, StoreError> {
        self.find(query(HEAD).bind(session_key)).await
    }

    /// Returns the oldest open delivery of each session.
    pub(crate) async fn find_heads(
        &mut self,
        sessions: &[&str],
    ) -> Result<Vec<Option<Head>>, StoreError> {
        let rows: Vec<_> = sessions.iter().map(|key| vec![(*key).into()]).collect();
        self.find_each(HEAD, &rows).await
    }

    pub(crate) fn park(&mut self, ids: &[String]) -> Result<(), StoreError> {
        for page in ids.chunks(PAGE) {
            self.set_place(page, None)?;
        }
        Ok(())
    }

    /// Sets when up to [`PAGE`] deliveries are due; `None` parks them.
    pub(crate) fn set_place(
        &mut self,
        ids: &[String],
        at: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        let Some(last) = ids.last() else {
            return Ok(());
        };
        let update = page_from_2!(
            "UPDATE webhook_deliveries SET next_attempt_at = $1
             WHERE status IN ('received', 'queued') AND id IN ",
            ""
        );
        let mut values = vec![at.map(Timestamp::as_millis).into()];
        // The statement always has `PAGE` parameters. The last ID is repeated for the unused ones.
        values.extend((0..PAGE).map(|place| Value::from(ids.get(place).unwrap_or(last))));
        self.run_later(update, values)
    }

    /// For each session, makes the oldest open delivery due at the given time. Skips a delivery that is not parked
    /// or waits for the vault.
    pub(crate) async fn revive_next(
        &mut self,
        sessions: &[(&str, Timestamp)],
    ) -> Result<(), StoreError> {
        let keys: Vec<_> = sessions.iter().map(|(key, _)| *key).collect();
        let heads = self.find_heads(&keys).await?;
        let heads = heads.into_iter().zip(sessions);
        self.revive(heads.filter_map(|(head, (_, now))| Some((head?, *now))))
    }

    /// Makes deliveries due at their times if they are free. No earlier delivery of their sessions is open.
    fn revive(
        &mut self,
        heads: impl IntoIterator<Item = (Head, Timestamp)>,
    ) -> Result<(), StoreError> {
        let free = heads.into_iter().filter(|(head, _)| head.is_free);
        let rows: Vec<Vec<Value<'_>>> = free
            .map(|(head, now)| vec![now.as_millis().into(), head.id.into()])
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        self.run_each_later(REVIVE, &rows)
    }

    /// Counts the queued deliveries, including parked ones.
    pub async fn count_queued_deliveries(&mut self) -> Result<i64, StoreError> {
        self.number(query(
            "SELECT (SELECT COUNT(*) FROM webhook_deliveries WHERE status IN ('received', 'queued')
                     AND next_attempt_at IS NOT NULL AND target IS NOT NULL)
                 + (SELECT COUNT(*) FROM webhook_deliveries WHERE status IN ('received', 'queued')
                     AND next_attempt_at IS NULL)",
        ))
        .await
    }
}

const REVIVE: &str = "UPDATE webhook_deliveries SET next_attempt_at = $1
     WHERE status IN ('received', 'queued') AND id = $2";

/// Selects the oldest open delivery of a session.
const HEAD: &str = concat!(
    "SELECT id, webhook_id, target, status, next_attempt_at, error FROM webhook_deliveries
    WHERE session_key = $1 AND ",
    is_open!(),
    " ORDER BY id LIMIT 1"
);

/// Selects the oldest open delivery of the session of a given delivery.
const HEAD_OF_SAME: &str = concat!(
    "SELECT id, webhook_id, target, status, next_attempt_at, error FROM webhook_deliveries
    WHERE session_key = (SELECT session_key FROM webhook_deliveries WHERE id = $1)
        AND ",
    is_open!(),
    " ORDER BY id LIMIT 1"
);

#[cfg(test)]
#[path = "delivery_queue_tests.rs"]
mod tests;
