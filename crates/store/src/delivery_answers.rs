//! Table `delivery_answers`: the answers of agents that are sent to a channel. An answer is stored in the
//! transaction that ends the agent's turn, so a retry of the sending does not run the agent again.

use crate::sql::query;
use crate::{Conn, DeliveryRow, StoreError};
use gatehouse_domain::{DeliveryId, DeliveryStatus, SessionId, Timestamp};

/// The end of an agent's turn with an answer for a channel.
#[derive(Clone, Debug)]
pub struct DeliveryAnswer {
    pub answer: String,
    /// The beginning of the answer, as one line.
    pub outcome: Option<String>,
    /// The channel target. The delivery moves to the line of this target.
    pub target: String,
    pub now: Timestamp,
    pub session_id: Option<SessionId>,
    pub input_tokens: Option<i64>,
    pub output_tokens: Option<i64>,
    /// The agent's actions, as a JSON array.
    pub response_actions: String,
}

impl DeliveryAnswer {
    /// Applies the same changes to a row as the database write.
    pub fn apply(&self, row: &mut DeliveryRow) {
        row.status = DeliveryStatus::Queued;
        row.target = Some(self.target.clone());
        row.next_attempt_at = Some(self.now);
        row.attempts -= 1;
        row.error = None;
        row.session_id = self
            .session_id
            .as_ref()
            .map(|session| session.as_str().to_owned());
        row.input_tokens = self.input_tokens;
        row.output_tokens = self.output_tokens;
        row.outcome.clone_from(&self.outcome);
        row.response_actions.clone_from(&self.response_actions);
        (row.lease_owner, row.lease_until) = (None, None);
    }
}

impl Conn {
    /// Stores an answer and queues its delivery for the channel, due now. The turn is not counted as an attempt,
    /// so all attempts are available for sending. Returns `false` and changes nothing if the owner has lost the
    /// lease of this attempt.
    pub async fn answer_delivery(
        &mut self,
        id: &DeliveryId,
        owner: &str,
        attempt: i64,
        answer: &DeliveryAnswer,
    ) -> Result<bool, StoreError> {
        let update = query(
            "UPDATE webhook_deliveries SET status = 'queued', target = $3, next_attempt_at = $4,
                 attempts = attempts - 1, error = NULL, session_id = $5, input_tokens = $6,
                 output_tokens = $7, response_actions = $8, outcome = $10, lease_owner = NULL, lease_until = NULL
             WHERE id = $1 AND lease_owner = $2 AND attempts = $9 AND status = 'processing'",
        );
        let update = update
            .bind(id.as_str())
            .bind(owner)
            .bind(&answer.target)
            .bind(answer.now.as_millis())
            .bind(answer.session_id.as_ref().map(SessionId::as_str))
            .bind(answer.input_tokens)
            .bind(answer.output_tokens)
            .bind(&answer.response_actions)
            .bind(attempt)
            .bind(answer.outcome.as_deref());
        if self.run(update).await? == 0 {
            return Ok(false);
        }
        let insert = query(
            "INSERT INTO delivery_answers (delivery_id, answer) VALUES ($1, $2)
             ON CONFLICT (delivery_id) DO UPDATE SET answer = excluded.answer",
        );
        self.run(insert.bind(id.as_str()).bind(&answer.answer))
            .await?;
        Ok(true)
    }

    /// Returns the stored answer to a delivery.
    pub async fn find_delivery_answer(
        &mut self,
        id: &DeliveryId,
    ) -> Result<Option<String>, StoreError> {
        let query = query("SELECT answer FROM delivery_answers WHERE delivery_id = $1");
        self.find(query.bind(id.as_str())).await
    }
}
