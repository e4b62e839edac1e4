//! Creates, lists, changes and deletes webhooks. Each change is one transaction that includes its audit log
//! row. Memory is then updated in commit order, even if the caller disconnects.

mod create;
mod miss;
mod open;
mod secrets;
mod shown;
mod unusable;
mod update;

pub use open::OpenWebhooks;
pub(crate) use update::require_unchanged;

use crate::error::WebhooksError;
use crate::handle::{Inner, Webhooks};
use crate::listing::is_cursor;
use crate::webhook::{StoredConfig, Webhook};
use futures_util::future::BoxFuture;
use gatehouse_domain::{Actor, Timestamp, WebhookId};
use gatehouse_secrets::{FormedSecret, SecretOwner};
use gatehouse_store::{AuditEntry, Conn, StoreError, WebhookRow, WebhookSecretRow, inherit};
pub(crate) use miss::Miss;
use secrecy::SecretString;
pub(crate) use secrets::{checked_secret, facts, no_secret, secret_row};
use serde_json::Value;
pub use shown::{ShownSecret, WebhookChanged, WebhookPage};
use std::collections::HashMap;
use std::sync::Arc;

/// How often a change is attempted when other nodes change the same webhook concurrently.
pub(crate) const TRIES: usize = 3;
/// Shown with a webhook that does not verify deliveries.
const OPEN_WARNING: &str = "Anyone who knows this URL can send deliveries: the mode `none` \
    verifies nothing and is for testing only.";

/// A webhook's row and its secret rows.
pub(crate) type Read = (WebhookRow, Vec<WebhookSecretRow>);

impl Webhooks {
    /// Runs a change to completion even if the caller disconnects. Changes in this process run one at a
    /// time.
    pub(crate) async fn change<T, F>(
        &self,
        work: impl FnOnce(Arc<Inner>) -> F + Send + 'static,
    ) -> Result<T, WebhooksError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, WebhooksError>> + Send,
    {
        let inner = Arc::clone(&self.0);
        let task = self.0.tasks.spawn(inherit(async move {
            let held = Arc::clone(&inner);
            let _turn = held.changing.lock().await;
            work(inner).await
        }));
        task.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a change of a webhook did not complete");
            Err(WebhooksError::BrokenOff)
        })
    }

    /// Finds a webhook by ID or public ID.
    pub async fn get(&self, id: &str) -> Result<Webhook, WebhooksError> {
        let id = self.0.id_of(id).await?;
        self.0.shown(&id).await
    }

    /// Lists webhooks, oldest first.
    pub async fn list(
        &self,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<WebhookPage, WebhooksError> {
        if cursor.is_some_and(|cursor| !is_cursor("hook_", cursor)) {
            let reason = "not a cursor of this list";
            return Err(WebhooksError::invalid("cursor", reason));
        }
        let after = cursor.unwrap_or_default().to_owned();
        let rows = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                let rows = conn.list_webhooks_after(&after, rows).await?;
                let secrets = conn.list_webhook_secrets().await?;
                Ok::<_, StoreError>((rows, secrets, conn.list_schedules().await?))
            })
        });
        let (mut rows, secret_rows, schedules) = read.await?;
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let next_cursor = rows.last().filter(|_| has_more);
        let next_cursor = next_cursor.map(|row| row.id.as_str().to_owned());
        let mut secrets: HashMap<WebhookId, Vec<WebhookSecretRow>> = HashMap::new();
        for row in secret_rows {
            secrets.entry(row.webhook_id.clone()).or_default().push(row);
        }
        let due: HashMap<WebhookId, Timestamp> = schedules
            .into_iter()
            .map(|schedule| (schedule.webhook_id, schedule.due_at))
            .collect();
        let (now, base) = (self.0.now(), self.0.settings.load().base_url.clone());
        let shown = |row: WebhookRow| {
            let its = secrets.get(&row.id).map(Vec::as_slice);
            let facts = facts(its.unwrap_or_default(), now);
            let (id, due) = (row.id.clone(), due.get(&row.id).copied());
            match Webhook::of(row, &base, facts, due) {
                Ok(webhook) => Some(self.0.with_verify_token(webhook)),
                // The other webhooks stay usable. The check `damaged_webhooks` reports this one.
                Err(error) => {
                    tracing::warn!(%error, webhook = %id, "the list omits a webhook");
                    None
                }
            }
        };
        Ok(WebhookPage {
            webhooks: rows.into_iter().filter_map(shown).collect(),
            next_cursor,
        })
    }
}

pub(crate) fn config_text(config: &StoredConfig) -> Result<String, WebhooksError> {
    serde_json::to_string(config).map_err(|_| WebhooksError::BrokenOff)
}

impl Inner {
    pub(crate) async fn id_of(&self, name: &str) -> Result<WebhookId, WebhooksError> {
        let name = name.to_owned();
        let read = self.store.read(move |conn| {
            Box::pin(async move {
                let row = match conn.find_webhook(&name).await? {
                    None => conn.find_webhook_by_public_id(&name).await?,
                    found => found,
                };
                Ok::<_, StoreError>(row)
            })
        });
        let row = read.await?.ok_or(WebhooksError::NotFound("webhook"))?;
        Ok(row.id)
    }

    pub(crate) async fn read_one(&self, id: &WebhookId) -> Result<Read, WebhooksError> {
        let id = id.clone();
        let read = self.store.read(move |conn| {
            Box::pin(async move {
                let row = conn.find_webhook(id.as_str()).await?;
                let secrets = conn.list_secrets_of_webhook(id.as_str()).await?;
                Ok::<_, StoreError>(row.map(|row| (row, secrets)))
            })
        });
        read.await?.ok_or(WebhooksError::NotFound("webhook"))
    }

    /// Loads a webhook as shown to its owner.
    pub(crate) async fn shown(&self, id: &WebhookId) -> Result<Webhook, WebhooksError> {
        let wanted = id.clone();
        let read = self
            .store
            .read(move |conn| Box::pin(async move { conn.find_schedule(wanted.as_str()).await }));
        let due = read.await?.map(|schedule| schedule.due_at);
        let (row, secrets) = self.read_one(id).await?;
        let facts = facts(&secrets, self.now());
        let base = &self.settings.load().base_url;
        Ok(self.with_verify_token(Webhook::of(row, base, facts, due)?))
    }

    /// Appends a change to the audit log and to the change feed for other nodes. Call it in the change's
    /// transaction.
    pub(crate) async fn note(
        &self,
        conn: &mut Conn,
        kind: &str,
        actor: &Actor,
        detail: Value,
    ) -> Result<(), StoreError> {
        let now = self.now();
        let entry = AuditEntry {
            kind,
            actor,
            detail,
        };
        conn.append_audit(&entry, now, &*self.random).await?;
        conn.insert_change("webhooks", now).await
    }

    /// Runs a write that may store secrets. With secrets, the write needs the vault. Without secrets, the vault may
    /// be sealed.
    pub(crate) async fn write_with<T, F>(
        self: &Arc<Self>,
        secrets: Vec<(SecretOwner, SecretString)>,
        job: F,
    ) -> Result<T, Miss>
    where
        T: Send + 'static,
        F: for<'c> Fn(&'c mut Conn, Arc<Vec<Arc<FormedSecret>>>) -> BoxFuture<'c, Result<T, Miss>>
            + Send
            + Sync
            + 'static,
    {
        if secrets.is_empty() {
            let none = Arc::default();
            self.store.write(move |conn| job(conn, none)).await
        } else {
            self.secrets.write_protected(secrets, job).await
        }
    }
}
