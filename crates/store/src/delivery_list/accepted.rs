//! Deliveries that were accepted since a time.

use crate::delivery_counts::first_id_at;
use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{Timestamp, WebhookId};

/// The webhook and the time of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryMoment {
    pub webhook_id: WebhookId,
    pub received_at: Timestamp,
}

impl FromRow for DeliveryMoment {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            webhook_id: WebhookId::from_text(row.try_get::<String, _>(0)?),
            received_at: Timestamp::from_millis(row.try_get(1)?),
        })
    }
}

impl Conn {
    /// Lists the deliveries accepted since `since`, oldest first, to restore the rate limits when a process
    /// starts. Replays are excluded because they are not limited.
    pub async fn list_accepted_since(
        &mut self,
        since: Timestamp,
        limit: i64,
    ) -> Result<Vec<DeliveryMoment>, StoreError> {
        let query = query(
            "SELECT webhook_id, received_at FROM webhook_deliveries
             WHERE id >= $1 AND received_at >= $2
                 AND (replay_of IS NULL OR redelivery IS NOT NULL)
                 AND status NOT IN ('rejected', 'filtered', 'deduplicated')
             ORDER BY id LIMIT $3",
        );
        self.list(
            query
                .bind(first_id_at(since))
                .bind(since.as_millis())
                .bind(limit),
        )
        .await
    }
}
