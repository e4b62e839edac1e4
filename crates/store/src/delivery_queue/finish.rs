//! The end of a delivery.

use super::{HEAD_OF_SAME, Head};
use crate::sql::{Value, columns};
use crate::{Conn, DeliveryResponse, DeliveryRow, StoreError};
use gatehouse_domain::{DeliveryId, DeliveryStatus, SessionId, Timestamp};

/// The end of a delivery.
#[derive(Clone, Debug)]
pub struct DeliveryFinish {
    /// `completed` or `failed`.
    pub status: DeliveryStatus,
    pub finished_at: Timestamp,
    /// The agent's session. `None` keeps the stored value; the same applies to all fields below unless stated
    /// otherwise.
    pub session_id: Option<SessionId>,
    /// Tokens of all model calls.
    pub input_tokens: Option<i64>,
    pub output_tokens: Option<i64>,
    /// The reason for the failure, as shown to the owner. Always replaces the stored reason; `None` deletes it.
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
    /// Applies the same changes to a row as the database write.
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
    /// Returns the parameters for [`FINISH`].
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

/// The result of an update that ends a delivery.
pub(crate) struct EndedRow {
    pub(crate) session_key: String,
    pub(crate) webhook_id: String,
    pub(crate) received_at: Timestamp,
    started_at: Option<Timestamp>,
}

columns! { EndedRow: session_key, webhook_id, received_at, started_at }

impl EndedRow {
    /// Returns how long the last attempt took; `None` if there was none.
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
