//! Table `webhook_deliveries` as a queue: finish, requeue and park deliveries.
//!
//! Changes of open deliveries run in [`crate::Store::write_queue`]. One such transaction runs at a time in the whole
//! database, so the rows that a claim reads do not change before it writes, on any node. Only inserts, and changes of
//! the time at which a delivery is due, may run concurrently.
//!
//! **Parking.** Only the oldest open delivery of a session may run. If a claim finds a younger one due, it
//! sets `next_attempt_at` to `NULL`, which removes the delivery from the index of the queue. The transaction
//! that ends the older delivery makes the next one due again. A claim therefore reads each waiting delivery
//! once. A delivery that waits for the vault is also parked, with [`WAITS_FOR_VAULT`] as its error.
//!
//! A claim ([`crate::delivery_claim`]) takes from given lines: see [`crate::delivery_lines`].

use crate::sql::{FromRow, Row, Value, columns, query};
use crate::status_conditions::is_open;
use crate::{Conn, DeliveryResponse, DeliveryRow, StoreError};
use gatehouse_domain::{DeliveryId, DeliveryStatus, SessionId, Timestamp};

/// The `error` of a delivery that waits until the vault is unlocked.
pub const WAITS_FOR_VAULT: &str = "Waits until the vault is unsealed.";
/// The `error` of a delivery that was restored from a backup and waits until the owner releases it.
pub const WAITS_FOR_RELEASE: &str = "Restored from a backup. Waits until it is released.";

/// Maximum number of deliveries that a claim reads from a line, or an update changes, with one statement.
pub(crate) const PAGE: usize = 64;

/// The end of a delivery.
#[derive(Clone, Debug)]
pub struct DeliveryFinish {
    /// `completed` or `failed`.
    pub status: DeliveryStatus,
    pub finished_at: Timestamp,
    /// The agent's session; `None` keeps the stored value, here and below.
    pub session_id: Option<SessionId>,
    /// Tokens of all model calls.
    pub input_tokens: Option<i64>,
    pub output_tokens: Option<i64>,
    /// The reason for the failure, as shown to the owner. Replaces the stored reason, even if `None`.
    pub error: Option<String>,
    /// The agent's actions, as a JSON array.
    pub response_actions: Option<String>,
    /// When a channel accepted the text.
    pub delivered_at: Option<Timestamp>,
    /// The beginning of the agent's answer, or of the text that a channel accepted without an agent, as one line.
    pub outcome: Option<String>,
    /// The name of the channel that accepted a text without an agent.
    pub channel: Option<String>,
    /// The receiver's response. Replaces the stored one.
    pub response: DeliveryResponse,
}

impl DeliveryFinish {
    /// Updates a row as the database write does.
    pub fn apply(&self, row: &mut DeliveryRow) {
        row.status = self.status;
        row.finished_at = Some(self.finished_at);
        if let Some(session) = &self.session_id {
            row.session_id = Some(session.as_str().to_owned());
        }
        row.input_tokens = self.input_tokens.or(row.input_tokens);
        row.output_tokens = self.output_tokens.or(row.output_tokens);
        row.delivered_at = self.delivered_at.or(row.delivered_at);
        row.error.clone_from(&self.error);
        if self.outcome.is_some() {
            row.outcome.clone_from(&self.outcome);
        }
        if self.channel.is_some() {
            row.channel.clone_from(&self.channel);
        }
        if let Some(actions) = &self.response_actions {
            row.response_actions.clone_from(actions);
        }
        (row.lease_owner, row.lease_until, row.next_attempt_at) = (None, None, None);
    }
}

/// A delivery to end, and the attempt that ended it.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryEnd<'e> {
    pub id: &'e DeliveryId,
    pub attempt: i64,
    pub finish: &'e DeliveryFinish,
}

impl<'e> DeliveryEnd<'e> {
    /// The values of [`FINISH`].
    fn values(&self, owner: &'e str) -> Vec<Value<'e>> {
        let finish = self.finish;
        vec![
            self.id.as_str().into(),
            owner.into(),
            finish.status.as_str().into(),
            finish.finished_at.as_millis().into(),
            finish.session_id.as_ref().map(SessionId::as_str).into(),
            finish.input_tokens.into(),
            finish.output_tokens.into(),
            finish.error.as_deref().into(),
            finish.response_actions.as_deref().into(),
            self.attempt.into(),
            finish.delivered_at.map(Timestamp::as_millis).into(),
            finish.outcome.as_deref().into(),
            finish.channel.as_deref().into(),
            finish.response.status_code.into(),
            finish.response.answer.as_deref().into(),
        ]
    }
}

impl DeliveryRequeue {
    /// Updates a row as the database write does.
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

/// The return of a delivery to the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryRequeue {
    /// The earliest start of the next attempt; `None` parks the delivery.
    pub next_attempt_at: Option<Timestamp>,
    /// Whether to subtract this attempt from `attempts`.
    pub uncount: bool,
    /// The reason for the return, as shown to the owner.
    pub error: Option<String>,
    /// The session that the agent started, if any.
    pub session_id: Option<SessionId>,
}

/// The oldest open delivery of a session.
#[derive(Clone)]
pub(crate) struct Head {
    pub(crate) id: String,
    pub(crate) webhook_id: String,
    pub(crate) target: Option<String>,
    /// Parked, but neither for the vault nor for the owner: nothing prevents it from running.
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

pub(crate) use page_from_2;

/// The result of an update that ends a delivery.
pub(crate) struct EndedRow {
    pub(crate) session_key: String,
    pub(crate) webhook_id: String,
    pub(crate) received_at: Timestamp,
    started_at: Option<Timestamp>,
}

columns! { EndedRow: session_key, webhook_id, received_at, started_at }

impl EndedRow {
    /// How long the last attempt took; `None` if there was none.
    pub(crate) fn took_ms(&self, finished_at: Timestamp) -> Option<i64> {
        let started_at = self.started_at?;
        Some(
            finished_at
                .as_millis()
                .saturating_sub(started_at.as_millis()),
        )
    }
}

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
        // The statement always has `PAGE` parameters. The last ID fills the unused ones.
        values.extend((0..PAGE).map(|place| Value::from(ids.get(place).unwrap_or(last))));
        self.run_later(update, values)
    }

    /// Ends a delivery and lets the next one of its session run. Returns `false` and changes nothing if the
    /// owner has lost the lease of this attempt.
    pub async fn finish_delivery(
        &mut self,
        id: &DeliveryId,
        owner: &str,
        attempt: i64,
        finish: &DeliveryFinish,
    ) -> Result<bool, StoreError> {
        let ends = [DeliveryEnd {
            id,
            attempt,
            finish,
        }];
        let ended = self.finish_deliveries(owner, &ends).await?;
        Ok(ended == [true])
    }

    /// Ends deliveries of different sessions like [`Self::finish_delivery`], in a constant number of round trips.
    pub async fn finish_deliveries(
        &mut self,
        owner: &str,
        ends: &[DeliveryEnd<'_>],
    ) -> Result<Vec<bool>, StoreError> {
        if ends.is_empty() {
            return Ok(Vec::new());
        }
        let rows: Vec<Vec<Value<'_>>> = ends.iter().map(|end| end.values(owner)).collect();
        let ids: Vec<Vec<Value<'_>>> = ends
            .iter()
            .map(|end| vec![end.id.as_str().into()])
            .collect();
        let (ended, heads) = self
            .find_each_of_two::<EndedRow, Head>((FINISH, &rows), (HEAD_OF_SAME, &ids))
            .await?;
        let mut free = Vec::with_capacity(ended.len());
        for ((row, head), end) in ended.iter().zip(heads).zip(ends) {
            if let Some(row) = row {
                let finish = end.finish;
                let took_ms = row.took_ms(finish.finished_at);
                self.note_ended(&row.webhook_id, row.received_at, finish.status, took_ms);
                free.extend(head.map(|head| (head, finish.finished_at)));
            }
        }
        self.revive(free)?;
        Ok(ended.iter().map(Option::is_some).collect())
    }

    /// Returns a delivery to the queue. Returns `false` and changes nothing if the owner has lost the lease
    /// of this attempt.
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

    /// Makes the oldest open delivery of each session due at its time, if it is parked and does not wait for the
    /// vault.
    pub(crate) async fn revive_next(
        &mut self,
        sessions: &[(&str, Timestamp)],
    ) -> Result<(), StoreError> {
        let keys: Vec<_> = sessions.iter().map(|(key, _)| *key).collect();
        let heads = self.find_heads(&keys).await?;
        let heads = heads.into_iter().zip(sessions);
        self.revive(heads.filter_map(|(head, (_, now))| Some((head?, *now))))
    }

    /// Makes deliveries due at their time if they are free: no earlier delivery of the session is open.
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

const FINISH: &str = "UPDATE webhook_deliveries SET status = $3, finished_at = $4,
         session_id = COALESCE($5, session_id), input_tokens = COALESCE($6, input_tokens),
         output_tokens = COALESCE($7, output_tokens), error = $8,
         response_actions = COALESCE($9, response_actions),
         delivered_at = COALESCE($11, delivered_at), outcome = COALESCE($12, outcome),
         channel = COALESCE($13, channel), status_code = $14, answer = $15,
         lease_owner = NULL, lease_until = NULL, next_attempt_at = NULL
     WHERE id = $1 AND lease_owner = $2 AND attempts = $10 AND status = 'processing'
     RETURNING session_key, webhook_id, received_at, started_at";

const REVIVE: &str = "UPDATE webhook_deliveries SET next_attempt_at = $1
     WHERE status IN ('received', 'queued') AND id = $2";

/// Selects the oldest open delivery of a session.
const HEAD: &str = concat!(
    "SELECT id, webhook_id, target, status, next_attempt_at, error FROM webhook_deliveries
    WHERE session_key = $1 AND ",
    is_open!(),
    " ORDER BY id LIMIT 1"
);

/// Selects the oldest open delivery of the session of a delivery.
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
