//! The return of a delivery to the queue.

use crate::sql::query;
use crate::{Conn, DeliveryRow, StoreError};
use gatehouse_domain::{DeliveryId, DeliveryStatus, SessionId, Timestamp};

impl DeliveryRequeue {
    /// Applies the same changes to a row as the database write.
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

impl Conn {
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
}
