//! Table `held_deliveries`: deliveries that arrived while the vault was sealed.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{DeliveryId, WebhookId};

/// A row of `held_deliveries`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldDelivery {
    pub id: DeliveryId,
    pub webhook_id: WebhookId,
    /// The client's IP address or network.
    pub client: String,
    /// Length of the plaintext in bytes.
    pub size: i64,
    pub sealed: String,
}

columns! { HeldDelivery: id, webhook_id, client, size, sealed }

/// The limit for the held deliveries of a webhook, or of one client of a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoldLimit {
    pub deliveries: i64,
    pub bytes: i64,
}

impl Conn {
    /// Stores a delivery unless a limit would be exceeded. Returns whether it was stored.
    pub async fn insert_held_delivery(
        &mut self,
        row: &HeldDelivery,
        of_webhook: HoldLimit,
        of_client: HoldLimit,
    ) -> Result<bool, StoreError> {
        let query = query(
            "INSERT INTO held_deliveries (id, webhook_id, client, size, sealed)
             SELECT $1, $2, $3, $4, $5
             FROM (SELECT COUNT(*) AS deliveries, COALESCE(SUM(size), 0) AS bytes
                     FROM held_deliveries WHERE webhook_id = $2) AS of_webhook,
                 (SELECT COUNT(*) AS deliveries, COALESCE(SUM(size), 0) AS bytes
                     FROM held_deliveries WHERE webhook_id = $2 AND client = $3) AS of_client
             WHERE of_webhook.deliveries < $6 AND of_webhook.bytes + $4 <= $7
                 AND of_client.deliveries < $8 AND of_client.bytes + $4 <= $9",
        );
        let query = query
            .bind(row.id.as_str())
            .bind(row.webhook_id.as_str())
            .bind(&row.client)
            .bind(row.size)
            .bind(&row.sealed)
            .bind(of_webhook.deliveries)
            .bind(of_webhook.bytes)
            .bind(of_client.deliveries)
            .bind(of_client.bytes);
        Ok(self.run(query).await? > 0)
    }

    /// Returns the held delivery that arrived first, or the first one after a given delivery.
    pub async fn find_next_held_delivery(
        &mut self,
        after: Option<&DeliveryId>,
    ) -> Result<Option<HeldDelivery>, StoreError> {
        let query = query("SELECT * FROM held_deliveries WHERE id > $1 ORDER BY id LIMIT 1");
        let after = after.map_or("", DeliveryId::as_str);
        self.find(query.bind(after)).await
    }

    /// Returns the ID of the held delivery of a webhook that arrived first.
    pub async fn find_first_held_of(
        &mut self,
        webhook: &WebhookId,
    ) -> Result<Option<DeliveryId>, StoreError> {
        let query =
            query("SELECT id FROM held_deliveries WHERE webhook_id = $1 ORDER BY id LIMIT 1");
        let id: Option<String> = self.find(query.bind(webhook.as_str())).await?;
        Ok(id.map(DeliveryId::from_text))
    }

    pub async fn delete_held_delivery(&mut self, id: &DeliveryId) -> Result<(), StoreError> {
        let query = query("DELETE FROM held_deliveries WHERE id = $1");
        self.run(query.bind(id.as_str())).await.map(drop)
    }
}
