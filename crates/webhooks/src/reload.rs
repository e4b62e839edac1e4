//! Reloads the webhooks in memory: at startup, after each change, whenever the vault is unlocked, and when another
//! node reports a change. Sealing the vault removes the secrets.

use crate::error::WebhooksError;
use crate::handle::{Inner, Webhooks};
use crate::limits::per_minute::WINDOW_MS;
use crate::live::{ByPublicId, LiveWebhook};
use gatehouse_domain::{Timestamp, WebhookId};
use gatehouse_secrets::Status;
use gatehouse_store::{StoreError, WebhookSecretRow};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The delay before a retry of reading the webhooks.
const AGAIN: Duration = Duration::from_secs(1);
/// Maximum number of accepted deliveries that the rate limits restore at startup.
const REMEMBERED: i64 = 100_000;

impl Inner {
    /// Reloads one webhook from the database. Call it only while `changing` is held.
    pub(crate) async fn reload_one(&self, id: &WebhookId) -> Result<(), WebhooksError> {
        let wanted = id.clone();
        let read = self.store.read(move |conn| {
            Box::pin(async move {
                let row = conn.find_webhook(wanted.as_str()).await?;
                let secrets = conn.list_secrets_of_webhook(wanted.as_str()).await?;
                Ok::<_, StoreError>((row, secrets))
            })
        });
        let (row, secrets) = read.await?;
        match row {
            Some(row) => self
                .live
                .put(LiveWebhook::of(&self.secrets, row, secrets).await?),
            None => self.live.remove(id),
        }
        self.wake.notify_one();
        self.schedules_changed.notify_one();
        Ok(())
    }

    /// Restores the rate limits from the deliveries accepted in the minute before startup.
    pub(crate) async fn remember_recent(&self) -> Result<(), WebhooksError> {
        let now = self.now();
        let since = Timestamp::from_millis(now.as_millis() - i64::from(WINDOW_MS));
        let read = self.store.read(move |conn| {
            Box::pin(async move { conn.list_accepted_since(since, REMEMBERED).await })
        });
        // A schedule needs no permit. A webhook with a queue gets at most as many permits as its rate allows.
        let mut left: HashMap<WebhookId, u32> = self.live.paced().into_iter().collect();
        left.extend(self.live.schedules().into_iter().map(|id| (id, 0)));
        for delivery in read.await? {
            if let Some(left) = left.get_mut(&delivery.webhook_id) {
                if *left == 0 {
                    continue;
                }
                *left -= 1;
            }
            let age = delivery.received_at.until(now);
            let age_ms = u64::try_from(age.as_millis()).unwrap_or(0);
            self.limits.remember(&delivery.webhook_id, age_ms);
        }
        Ok(())
    }
}

impl Webhooks {
    /// Reloads every webhook from the database: at startup, after the vault is unlocked, and when another node
    /// changed webhooks (subject `webhooks` of the change feed).
    pub async fn reload(&self) -> Result<(), WebhooksError> {
        let _turn = self.0.changing.lock().await;
        self.reload_all().await
    }

    /// Like [`Webhooks::reload`], repeated until it succeeds. If it failed, this node would use outdated webhooks
    /// until the next change, for example a webhook that another node disabled or a secret that it replaced.
    pub async fn reload_with_retries(&self) {
        while let Err(error) = self.reload().await {
            tracing::warn!(%error, "changed webhooks could not be reloaded; retrying");
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Applies changed profiles to new deliveries, and to deliveries that were held because their profile was
    /// missing.
    pub async fn profiles_changed(&self) {
        self.reload_with_retries().await;
        self.0.held.notify_one();
    }

    /// Loads the webhook with this public id from the database, if there is one.
    pub(crate) async fn load_by_public_id(&self, public_id: &str) -> Result<(), WebhooksError> {
        let wanted = public_id.to_owned();
        let read = self.0.store.read(move |conn| {
            let wanted = wanted.clone();
            Box::pin(async move { conn.find_webhook_by_public_id(&wanted).await })
        });
        let Some(row) = read.await? else {
            return Ok(());
        };
        let _turn = self.0.changing.lock().await;
        self.0.reload_one(&row.id).await
    }

    /// Like [`Webhooks::reload`], unless another request has already reloaded. Many requests can find
    /// sealed secrets at once; only one of them reloads.
    pub(crate) async fn reload_sealed(&self, public_id: &str) -> Result<(), WebhooksError> {
        let _turn = self.0.changing.lock().await;
        match self.0.live.find(public_id) {
            Some(webhook) if webhook.is_sealed() => self.reload_all().await,
            _ => Ok(()),
        }
    }

    /// Call it only while `changing` is held.
    async fn reload_all(&self) -> Result<(), WebhooksError> {
        let read = self.0.store.read(|conn| {
            Box::pin(async move {
                let rows = conn.list_webhooks().await?;
                Ok::<_, StoreError>((rows, conn.list_webhook_secrets().await?))
            })
        });
        let (rows, secret_rows) = read.await?;
        let mut secrets: HashMap<WebhookId, Vec<WebhookSecretRow>> = HashMap::new();
        for row in secret_rows {
            secrets.entry(row.webhook_id.clone()).or_default().push(row);
        }
        let mut all = ByPublicId::with_capacity(rows.len());
        for row in rows {
            let id = row.id.clone();
            let its = secrets.remove(&id).unwrap_or_default();
            match LiveWebhook::of(&self.0.secrets, row, its).await {
                Ok(live) => drop(all.insert(live.public_id.clone(), Arc::new(live))),
                // One damaged row must not prevent the others from loading.
                Err(error) => tracing::error!(%error, %id, "a webhook could not be loaded"),
            }
        }
        self.0.live.replace_all(all);
        self.0.wake.notify_one();
        self.0.schedules_changed.notify_one();
        Ok(())
    }

    /// Reloads the webhooks whenever the vault is sealed or unlocked. Then processes held deliveries.
    pub(crate) fn follow_vault(&self, stop: &CancellationToken, tasks: &TaskTracker) {
        /// Interval between checks for deliveries that another, sealed node has held.
        const OTHER_NODES: Duration = Duration::from_secs(30);
        let (webhooks, mut status) = (self.clone(), self.0.secrets.subscribe_status());
        let follow = async move {
            // The webhooks were loaded before this task subscribed. One reload covers changes in between.
            status.mark_changed();
            loop {
                tokio::select! {
                    changed = status.changed() => {
                        if changed.is_err() {
                            return;
                        }
                        let now: Status = *status.borrow_and_update();
                        if now == Status::Sealed {
                            webhooks.0.originals.forget_all();
                        }
                        if let Err(error) = webhooks.reload().await {
                            tracing::error!(%error, "webhooks could not be read");
                            tokio::time::sleep(AGAIN).await;
                            status.mark_changed();
                            continue;
                        }
                    }
                    () = webhooks.0.held.notified() => {}
                    () = tokio::time::sleep(OTHER_NODES) => {
                        if !webhooks.0.store.engine().is_shared() {
                            continue;
                        }
                    }
                }
                if let Err(error) = webhooks.release_held().await {
                    tracing::error!(%error, "held deliveries could not be processed; retrying");
                    tokio::time::sleep(AGAIN).await;
                    webhooks.0.held.notify_one();
                }
            }
        };
        tasks.spawn(stop.clone().run_until_cancelled_owned(follow));
    }
}
