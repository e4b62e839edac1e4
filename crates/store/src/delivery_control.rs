//! Changes to single deliveries that the owner requests: cancel, and retry now.

use crate::delivery_queue::EndedRow;
use crate::sql::query;
use crate::status_conditions::is_open;
use crate::{Conn, StoreError};
use gatehouse_domain::{DeliveryId, DeliveryStatus, Timestamp};

/// The `error` of a canceled delivery.
pub const CANCELLED: &str = "Cancelled.";

impl Conn {
    /// Cancels a queued or running delivery, on any node, and lets the next delivery of its session run. If a turn
    /// began for it, the delivery gets the ID of the session, because the result of the run is discarded.
    /// Returns `false` and changes nothing if the delivery does not exist or has ended.
    pub async fn cancel_delivery(
        &mut self,
        id: &DeliveryId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let query = query(concat!(
            "UPDATE webhook_deliveries SET status = 'failed', finished_at = $2, error = $3,
                 lease_owner = NULL, lease_until = NULL, next_attempt_at = NULL,
                 session_id = COALESCE(session_id, (
                     SELECT chat_sessions.id FROM chat_sessions
                     JOIN chat_messages ON chat_messages.session_id = chat_sessions.id
                     WHERE webhook_deliveries.started_at IS NOT NULL
                         AND chat_sessions.key = webhook_deliveries.session_key
                         AND chat_messages.delivery_id = webhook_deliveries.id
                     LIMIT 1))
             WHERE id = $1 AND ",
            is_open!(),
            " RETURNING session_key, webhook_id, received_at, started_at",
        ));
        let query = query
            .bind(id.as_str().to_owned())
            .bind(now.as_millis())
            .bind(CANCELLED);
        let ended: Option<EndedRow> = self.find(query).await?;
        let Some(ended) = ended else {
            return Ok(false);
        };
        let took_ms = ended.took_ms(now);
        let (webhook, status) = (&ended.webhook_id, DeliveryStatus::Failed);
        self.note_ended(webhook, ended.received_at, status, took_ms);
        self.revive_next(&[(&ended.session_key, now)]).await?;
        Ok(true)
    }

    /// Makes a queued delivery due now. Returns `false` and changes nothing if it is not queued.
    pub async fn update_delivery_due(
        &mut self,
        id: &DeliveryId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let query = query(
            "UPDATE webhook_deliveries SET next_attempt_at = $2
             WHERE id = $1 AND status IN ('received', 'queued')",
        );
        let query = query.bind(id.as_str().to_owned()).bind(now.as_millis());
        Ok(self.run(query).await? > 0)
    }

    /// Makes all deliveries that wait for a retry to a target due now. Returns their number.
    pub async fn update_deliveries_due_for(
        &mut self,
        target: &str,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let query = query(
            "UPDATE webhook_deliveries SET next_attempt_at = $2
             WHERE status IN ('received', 'queued') AND next_attempt_at IS NOT NULL
                 AND target IS NOT NULL AND target = $1 AND next_attempt_at > $2",
        );
        let query = query.bind(target.to_owned()).bind(now.as_millis());
        self.run(query).await
    }
}
