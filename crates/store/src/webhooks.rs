//! Tables `webhooks` and `webhook_secrets`.

mod secrets;

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{Timestamp, WebhookId};
pub use secrets::WebhookSecretRow;

/// A webhook without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookRow {
    pub id: WebhookId,
    /// The ID in the webhook's URL.
    pub public_id: String,
    pub name: String,
    /// All other settings, as JSON text.
    pub config: String,
    /// Whether it accepts deliveries.
    pub enabled: bool,
    /// Number of accepted deliveries.
    pub delivery_count: i64,
    /// Time of the last accepted delivery.
    pub last_delivery_at: Option<Timestamp>,
    pub created_at: Timestamp,
    /// Time of the last change by the owner.
    pub updated_at: Timestamp,
}

columns! {
    WebhookRow:
    id, public_id, name, config, enabled, delivery_count, last_delivery_at, created_at,
    updated_at
}

impl Conn {
    /// Lists all webhooks, oldest first.
    pub async fn list_webhooks(&mut self) -> Result<Vec<WebhookRow>, StoreError> {
        self.list(query("SELECT * FROM webhooks ORDER BY id")).await
    }

    /// Lists up to `limit` webhooks with an ID after `after`, oldest first. An empty ID sorts before all
    /// others.
    pub async fn list_webhooks_after(
        &mut self,
        after: &str,
        limit: i64,
    ) -> Result<Vec<WebhookRow>, StoreError> {
        let query = query("SELECT * FROM webhooks WHERE id > $1 ORDER BY id LIMIT $2");
        self.list(query.bind(after).bind(limit)).await
    }

    /// Returns the number of webhooks.
    pub async fn count_webhooks(&mut self) -> Result<i64, StoreError> {
        self.number(query("SELECT COUNT(*) FROM webhooks")).await
    }

    /// Returns the number of enabled webhooks with this mode of verification, without schedules.
    pub async fn count_enabled_webhooks_with_mode(
        &mut self,
        mode: &str,
    ) -> Result<i64, StoreError> {
        let condition = self.is_enabled_with_mode();
        let count = format!("SELECT COUNT(*) FROM webhooks WHERE {condition}");
        self.number(query(count).bind(mode)).await
    }

    /// Lists the names of up to `limit` enabled webhooks with this mode of verification, without schedules, oldest
    /// first.
    pub async fn list_enabled_webhooks_with_mode(
        &mut self,
        mode: &str,
        limit: i64,
    ) -> Result<Vec<String>, StoreError> {
        let condition = self.is_enabled_with_mode();
        let list = format!("SELECT name FROM webhooks WHERE {condition} ORDER BY id LIMIT $2");
        self.list(query(list).bind(mode).bind(limit)).await
    }

    /// Returns the condition that a webhook is enabled, is not a schedule, and has the verification mode `$1`.
    fn is_enabled_with_mode(&self) -> String {
        let engine = self.engine();
        let mode = engine.json_text("config", (&["auth"], "mode"));
        let schedule = engine.json_text("config", (&[], "schedule"));
        format!("enabled = 1 AND {mode} = $1 AND {schedule} IS NULL")
    }

    /// Returns a webhook.
    pub async fn find_webhook(&mut self, id: &str) -> Result<Option<WebhookRow>, StoreError> {
        self.find(query("SELECT * FROM webhooks WHERE id = $1").bind(id))
            .await
    }

    /// Returns the webhook with this public ID.
    pub async fn find_webhook_by_public_id(
        &mut self,
        public_id: &str,
    ) -> Result<Option<WebhookRow>, StoreError> {
        self.find(query("SELECT * FROM webhooks WHERE public_id = $1").bind(public_id))
            .await
    }

    /// Stores a new webhook.
    pub async fn insert_webhook(&mut self, row: &WebhookRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO webhooks (id, public_id, name, config, enabled, delivery_count,
                 last_delivery_at, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        );
        self.run(
            query
                .bind(row.id.as_str())
                .bind(&row.public_id)
                .bind(&row.name)
                .bind(&row.config)
                .bind(i64::from(row.enabled))
                .bind(row.delivery_count)
                .bind(row.last_delivery_at.map(Timestamp::as_millis))
                .bind(row.created_at.as_millis())
                .bind(row.updated_at.as_millis()),
        )
        .await
        .map(drop)
    }

    /// Updates name, config and `enabled`, but not the counts. Returns `false` if there is no such webhook.
    pub async fn update_webhook(&mut self, row: &WebhookRow) -> Result<bool, StoreError> {
        let query = query(
            "UPDATE webhooks SET name = $1, config = $2, enabled = $3, updated_at = $4
             WHERE id = $5",
        );
        let query = query
            .bind(&row.name)
            .bind(&row.config)
            .bind(i64::from(row.enabled))
            .bind(row.updated_at.as_millis())
            .bind(row.id.as_str());
        Ok(self.run(query).await? > 0)
    }

    /// Adds `more` to the number of accepted deliveries. `last` is the time of the last of them.
    pub fn update_webhook_counts(
        &mut self,
        id: &WebhookId,
        more: i64,
        last: Timestamp,
    ) -> Result<(), StoreError> {
        let update = "UPDATE webhooks SET delivery_count = delivery_count + $1,
                 last_delivery_at = CASE WHEN last_delivery_at > $2 THEN last_delivery_at ELSE $2 END
             WHERE id = $3";
        let values = vec![more.into(), last.as_millis().into(), id.as_str().into()];
        self.run_later(update, values)
    }

    /// Deletes a webhook and its secrets. Returns `false` if there is no such webhook. Its deliveries are
    /// deleted separately, in batches: see [`Conn::delete_removed_deliveries`].
    pub async fn delete_webhook(&mut self, id: &str) -> Result<bool, StoreError> {
        let secrets = query("DELETE FROM webhook_secrets WHERE webhook_id = $1").bind(id);
        self.run(secrets).await?;
        let webhook = query("DELETE FROM webhooks WHERE id = $1").bind(id);
        Ok(self.run(webhook).await? > 0)
    }
}
