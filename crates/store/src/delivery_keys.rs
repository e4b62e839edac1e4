//! Finds the accepted delivery with a given key or bytes, and its redeliveries.

use crate::sql::{Column, FromRow, Row, columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{DeliveryId, DeliveryStatus, WebhookId};

/// The accepted delivery with a given delivery key or given bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyHolder {
    pub id: DeliveryId,
    pub status: DeliveryStatus,
    /// The first delivery, if this delivery is a redelivery of it by the sender.
    pub redelivery_of: Option<DeliveryId>,
}

/// A replay or redelivery of another delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatRow {
    pub status: DeliveryStatus,
    /// The number of the redelivery, from 1; `None` for the owner's replays.
    pub redelivery: Option<i64>,
}

impl FromRow for KeyHolder {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        let redelivery: Option<i64> = row.try_get("redelivery")?;
        let replay_of: Option<String> = row.try_get("replay_of")?;
        Ok(Self {
            id: DeliveryId::from_text(row.try_get::<String, _>("id")?),
            status: Column::read(row, "status")?,
            redelivery_of: redelivery.and(replay_of).map(DeliveryId::from_text),
        })
    }
}

columns! { RepeatRow: status, redelivery }

impl Conn {
    /// Returns the accepted delivery of a webhook with this key.
    pub async fn find_key_holder(
        &mut self,
        webhook: &WebhookId,
        unique_key: &str,
    ) -> Result<Option<KeyHolder>, StoreError> {
        let query = query(
            "SELECT id, status, replay_of, redelivery FROM webhook_deliveries
             WHERE webhook_id = $1 AND unique_key = $2",
        );
        let query = query.bind(webhook.as_str().to_owned());
        self.find(query.bind(unique_key.to_owned())).await
    }

    /// Returns the accepted delivery of a webhook with these bytes.
    pub async fn find_bytes_holder(
        &mut self,
        webhook: &WebhookId,
        bytes_key: &str,
    ) -> Result<Option<KeyHolder>, StoreError> {
        let query = query(
            "SELECT id, status, replay_of, redelivery FROM webhook_deliveries
             WHERE webhook_id = $1 AND bytes_key = $2",
        );
        let query = query.bind(webhook.as_str().to_owned());
        self.find(query.bind(bytes_key.to_owned())).await
    }

    /// Returns the status of a delivery; `None` if it does not exist.
    pub async fn find_delivery_status(
        &mut self,
        id: &DeliveryId,
    ) -> Result<Option<DeliveryStatus>, StoreError> {
        let query = query("SELECT status, redelivery FROM webhook_deliveries WHERE id = $1");
        let row: Option<RepeatRow> = self.find(query.bind(id.as_str().to_owned())).await?;
        Ok(row.map(|row| row.status))
    }

    /// Lists up to 64 replays and redeliveries of a delivery.
    pub async fn list_repeats(&mut self, id: &DeliveryId) -> Result<Vec<RepeatRow>, StoreError> {
        // Redeliveries come first because callers count them. The engines sort `NULL` differently.
        let query = query(
            "SELECT status, redelivery FROM webhook_deliveries WHERE replay_of = $1
             ORDER BY CASE WHEN redelivery IS NULL THEN 1 ELSE 0 END, id DESC LIMIT 64",
        );
        self.list(query.bind(id.as_str().to_owned())).await
    }
}
