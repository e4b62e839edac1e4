//! Table `webhook_deliveries` as a queue: claiming by lease, renewing, finishing, returning, waiting.
//!
//! Changes of open deliveries run in [`crate::Store::write_queue`]: one such transaction runs at a time in the whole
//! database, so that what a claim reads is still true when it writes, on every node. Only new deliveries, and the
//! moment at which one is due, may change beside it.
//!
//! **Parking.** Only the oldest open delivery of a session may run. One that a claim finds due behind
//! an older one loses its `next_attempt_at` and with it its place in the index of the queue; whatever
//! ends the older one gives the next its place back, in the same transaction. So a claim looks at each
//! delivery that must wait once, however many wait and however long. A delivery that waits for the
//! vault is parked too, with [`WAITS_FOR_VAULT`] as its error.
//!
//! A claim ([`crate::delivery_claim`]) names the lines that it takes from: see [`crate::delivery_lines`].

use crate::sql::{FromRow, Row, query};
use crate::{Conn, DeliveryRow, StoreError};
use gatehouse_domain::{DeliveryId, DeliveryStatus, SessionId, Timestamp};

/// The `error` of a delivery that waits until the vault is open.
pub const WAITS_FOR_VAULT: &str = "Waits until the vault is unsealed.";

/// How many due deliveries of a line a claim looks at in one go at most.
pub(crate) const PAGE: usize = 64;

/// How a delivery ended.
#[derive(Clone, Debug)]
pub struct DeliveryFinish {
    /// `completed` or `failed`.
    pub status: DeliveryStatus,
    /// When.
    pub finished_at: Timestamp,
    /// The chat session that an agent worked in.
    pub session_id: Option<SessionId>,
    /// Tokens of all its model calls, when there were any.
    pub input_tokens: Option<i64>,
    /// The same, for what the models wrote.
    pub output_tokens: Option<i64>,
    /// Why it failed, for people.
    pub error: Option<String>,
    /// What the agent did, as JSON text.
    pub response_actions: String,
}

impl DeliveryFinish {
    /// The row as it is after [`Conn::finish_delivery`].
    pub fn apply(&self, row: &mut DeliveryRow) {
        row.status = self.status;
        row.finished_at = Some(self.finished_at);
        row.session_id = self
            .session_id
            .as_ref()
            .map(|session| session.as_str().to_owned());
        row.input_tokens = self.input_tokens;
        row.output_tokens = self.output_tokens;
        row.error.clone_from(&self.error);
        row.response_actions.clone_from(&self.response_actions);
        (row.lease_owner, row.lease_until, row.next_attempt_at) = (None, None, None);
    }
}

impl DeliveryRequeue {
    /// The row as it is after [`Conn::requeue_delivery`].
    pub fn apply(&self, row: &mut DeliveryRow) {
        row.status = DeliveryStatus::Queued;
        row.next_attempt_at = self.next_attempt_at;
        row.attempts -= i64::from(self.uncount);
        row.error.clone_from(&self.error);
        if let Some(session) = &self.session_id {
            row.session_id = Some(session.as_str().to_owned());
        }
        (row.lease_owner, row.lease_until) = (None, None);
    }
}

/// Back to the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryRequeue {
    /// Not before this; `None` parks it until somebody gives it a place again.
    pub next_attempt_at: Option<Timestamp>,
    /// Whether the attempt that ends here is forgotten.
    pub uncount: bool,
    /// Why it is back, for people.
    pub error: Option<String>,
    /// The chat session that an agent began to work in.
    pub session_id: Option<SessionId>,
}

/// The oldest open delivery of a session.
pub(crate) struct Head {
    pub(crate) id: String,
    pub(crate) webhook_id: String,
    pub(crate) target: Option<String>,
    /// Parked, and not for the vault: it waits for nothing but a place.
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
                && error.as_deref() != Some(WAITS_FOR_VAULT),
        })
    }
}

/// A statement with [`PAGE`] parameters in a list, from `$2` on.
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

pub(crate) use page_from_2;

impl Conn {
    pub(crate) async fn find_head(
        &mut self,
        session_key: &str,
    ) -> Result<Option<Head>, StoreError> {
        self.find(query(HEAD).bind(session_key)).await
    }

    pub(crate) async fn park(&mut self, ids: &[String]) -> Result<(), StoreError> {
        for page in ids.chunks(PAGE) {
            self.set_place(page, None).await?;
        }
        Ok(())
    }

    /// Gives up to [`PAGE`] deliveries a place in the queue, or takes it.
    pub(crate) async fn set_place(
        &mut self,
        ids: &[String],
        at: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        let Some(last) = ids.last() else {
            return Ok(());
        };
        let sql = page_from_2!(
            "UPDATE webhook_deliveries SET next_attempt_at = $1
             WHERE status IN ('received', 'queued') AND id IN ",
            ""
        );
        let mut query = query(sql).bind(at.map(Timestamp::as_millis));
        // One text for every length: the last is named again and again.
        for place in 0..PAGE {
            query = query.bind(ids.get(place).unwrap_or(last));
        }
        self.run(query).await.map(drop)
    }

    /// The delivery has ended, and the next of its session may run. `false`, and nothing is changed,
    /// when the owner's lease of this attempt was lost.
    pub async fn finish_delivery(
        &mut self,
        id: &DeliveryId,
        owner: &str,
        attempt: i64,
        finish: &DeliveryFinish,
    ) -> Result<bool, StoreError> {
        let query = query(
            "UPDATE webhook_deliveries SET status = $3, finished_at = $4, session_id = $5,
                 input_tokens = $6, output_tokens = $7, error = $8, response_actions = $9,
                 lease_owner = NULL, lease_until = NULL, next_attempt_at = NULL
             WHERE id = $1 AND lease_owner = $2 AND attempts = $10 AND status = 'processing'
             RETURNING session_key",
        );
        let session: Option<String> = self
            .find(
                query
                    .bind(id.as_str())
                    .bind(owner)
                    .bind(finish.status.as_str())
                    .bind(finish.finished_at.as_millis())
                    .bind(finish.session_id.as_ref().map(SessionId::as_str))
                    .bind(finish.input_tokens)
                    .bind(finish.output_tokens)
                    .bind(finish.error.as_deref())
                    .bind(&finish.response_actions)
                    .bind(attempt),
            )
            .await?;
        let Some(session) = session else {
            return Ok(false);
        };
        self.revive_next(&session, finish.finished_at).await?;
        Ok(true)
    }

    /// The delivery goes back to the queue. `false`, and nothing is changed, when the owner's lease of this
    /// attempt was lost.
    pub async fn requeue_delivery(
        &mut self,
        id: &DeliveryId,
        owner: &str,
        attempt: i64,
        requeue: &DeliveryRequeue,
    ) -> Result<bool, StoreError> {
        let query = query(
            "UPDATE webhook_deliveries SET status = 'queued', next_attempt_at = $3,
                 attempts = attempts - $4, error = $5, session_id = COALESCE($6, session_id),
                 lease_owner = NULL, lease_until = NULL
             WHERE id = $1 AND lease_owner = $2 AND attempts = $7 AND status = 'processing'",
        );
        let touched = self
            .run(
                query
                    .bind(id.as_str())
                    .bind(owner)
                    .bind(requeue.next_attempt_at.map(Timestamp::as_millis))
                    .bind(i64::from(requeue.uncount))
                    .bind(requeue.error.as_deref())
                    .bind(requeue.session_id.as_ref().map(SessionId::as_str))
                    .bind(attempt),
            )
            .await?;
        Ok(touched > 0)
    }

    /// Gives the oldest open delivery of a session its place in the queue, if it was parked.
    pub(crate) async fn revive_next(
        &mut self,
        session_key: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let Some(head) = self.find_head(session_key).await? else {
            return Ok(());
        };
        if head.is_free {
            self.set_place(&[head.id], Some(now)).await?;
        }
        Ok(())
    }

    /// How many deliveries wait for a worker.
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

/// The oldest open delivery of a session.
const HEAD: &str =
    "SELECT id, webhook_id, target, status, next_attempt_at, error FROM webhook_deliveries
    WHERE session_key = $1 AND status IN ('received', 'queued', 'processing')
    ORDER BY id LIMIT 1";

#[cfg(test)]
#[path = "delivery_queue_tests.rs"]
mod tests;
