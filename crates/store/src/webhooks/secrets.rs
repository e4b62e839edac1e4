//! Table `webhook_secrets`: the secrets of webhooks.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{Timestamp, WebhookId};

/// A secret of a webhook.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecretRow {
    pub webhook_id: WebhookId,
    /// `secret`, or a name that begins with `previous_secret`.
    pub field: String,
    /// Plaintext, or ciphertext if `encrypted` is set.
    pub value: String,
    pub encrypted: bool,
    /// `None` if it does not expire.
    pub expires_at: Option<Timestamp>,
    pub updated_at: Timestamp,
}

columns! { WebhookSecretRow: webhook_id, field, value, encrypted, expires_at, updated_at }

impl Conn {
    /// Lists the secrets of all webhooks.
    pub async fn list_webhook_secrets(&mut self) -> Result<Vec<WebhookSecretRow>, StoreError> {
        self.list(query(
            "SELECT * FROM webhook_secrets ORDER BY webhook_id, field",
        ))
        .await
    }

    pub async fn list_secrets_of_webhook(
        &mut self,
        id: &str,
    ) -> Result<Vec<WebhookSecretRow>, StoreError> {
        let query =
            query("SELECT * FROM webhook_secrets WHERE webhook_id = $1 ORDER BY webhook_id, field");
        self.list(query.bind(id)).await
    }

    /// Inserts or replaces a secret.
    pub async fn update_webhook_secret(
        &mut self,
        row: &WebhookSecretRow,
    ) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO webhook_secrets (webhook_id, field, value, encrypted, expires_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (webhook_id, field) DO UPDATE SET value = excluded.value,
                 encrypted = excluded.encrypted, expires_at = excluded.expires_at,
                 updated_at = excluded.updated_at",
        );
        self.run(
            query
                .bind(row.webhook_id.as_str())
                .bind(&row.field)
                .bind(&row.value)
                .bind(i64::from(row.encrypted))
                .bind(row.expires_at.map(Timestamp::as_millis))
                .bind(row.updated_at.as_millis()),
        )
        .await
        .map(drop)
    }

    /// Deletes a secret. Returns `false` if there is no such secret.
    pub async fn delete_webhook_secret(
        &mut self,
        id: &WebhookId,
        field: &str,
    ) -> Result<bool, StoreError> {
        let query = query("DELETE FROM webhook_secrets WHERE webhook_id = $1 AND field = $2");
        Ok(self.run(query.bind(id.as_str()).bind(field)).await? > 0)
    }

    /// Deletes all secrets of a webhook except the current one.
    pub async fn delete_previous_webhook_secrets(
        &mut self,
        id: &WebhookId,
    ) -> Result<(), StoreError> {
        let query =
            query("DELETE FROM webhook_secrets WHERE webhook_id = $1 AND field <> 'secret'");
        self.run(query.bind(id.as_str())).await.map(drop)
    }

    /// Returns whether [`Self::delete_expired_webhook_secrets`] would delete a secret.
    pub async fn has_expired_webhook_secrets(
        &mut self,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let query = query("SELECT COUNT(*) FROM webhook_secrets WHERE expires_at <= $1");
        Ok(self.number(query.bind(now.as_millis())).await? > 0)
    }

    /// Deletes expired secrets and returns their number.
    pub async fn delete_expired_webhook_secrets(
        &mut self,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let query = query("DELETE FROM webhook_secrets WHERE expires_at <= $1");
        self.run(query.bind(now.as_millis())).await
    }
}
