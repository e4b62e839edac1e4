//! Deletes webhooks. The webhook itself is deleted immediately. Its deliveries, which can be a million, are deleted
//! in the background, in batches that keep each transaction short. The list of pending removals is in the database,
//! so the deletion continues after a restart.

use crate::batch_size::BatchSize;
use crate::error::WebhooksError;
use crate::handle::{Inner, Webhooks};
use gatehouse_domain::{Actor, Timestamp};
use gatehouse_store::{Duty, StoreError};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Maximum number of bytes of bodies per write. A larger single delivery is deleted alone.
const PIECE_BYTES: i64 = 8 * 1024 * 1024;
/// How long a removal stays listed. Requests that were in progress when the webhook was deleted can still store
/// deliveries.
const LINGER: Duration = Duration::from_mins(10);
/// Interval between two runs that process pending removals.
const SWEEP: Duration = Duration::from_mins(5);
/// The lease of the node that processes removals. If this node stops, another node takes over after this time.
const LEASE: Duration = Duration::from_mins(15);

impl Webhooks {
    /// Deletes a webhook, its secrets and its deliveries. Cancels its running deliveries. Keeps its sessions.
    pub async fn delete(&self, actor: &Actor, id: &str) -> Result<(), WebhooksError> {
        let id = self.0.id_of(id).await?;
        let actor = actor.clone();
        let deleted = self.change(move |inner| async move {
            let (noting, its) = (Arc::clone(&inner), id.clone());
            let written = inner.store.write(move |conn| {
                Box::pin(async move {
                    let row = conn.find_webhook(its.as_str()).await?;
                    let row = row.ok_or(WebhooksError::NotFound("webhook"))?;
                    conn.delete_webhook(its.as_str()).await?;
                    conn.insert_webhook_removal(its.as_str(), noting.now())
                        .await?;
                    let detail = json!({ "id": its, "public_id": row.public_id, "name": row.name });
                    noting.note(conn, "webhook.deleted", &actor, detail).await?;
                    Ok::<_, WebhooksError>(())
                })
            });
            written.await?;
            inner.live.remove(&id);
            inner.limits.forget(&id);
            if let Some(shared) = &inner.shared_limits {
                shared.forget(&id);
            }
            inner.cancels.cancel_webhook(&id);
            Ok(inner)
        });
        let inner = deleted.await?;
        self.0.tasks.spawn(async move {
            if let Err(error) = inner.purge().await {
                tracing::warn!(%error, "deliveries of a deleted webhook are not deleted yet");
            }
        });
        Ok(())
    }

    /// Processes pending removals until `stop`.
    pub(crate) fn follow_removals(&self, stop: &CancellationToken, tasks: &TaskTracker) {
        let inner = Arc::clone(&self.0);
        let duty = Self::removal_duty();
        let sweep = async move {
            loop {
                if let Err(error) = inner.purge_once(&duty).await {
                    tracing::warn!(%error, "deliveries of deleted webhooks are not deleted yet");
                }
                tokio::time::sleep(SWEEP).await;
            }
        };
        tasks.spawn(stop.clone().run_until_cancelled_owned(async move {
            sweep.await;
        }));
    }

    /// Processes pending removals now. They are also processed every five minutes in the background, on one of several
    /// nodes.
    pub async fn purge(&self) -> Result<(), WebhooksError> {
        Ok(self.0.purge().await?)
    }

    /// Returns the duty of [`Webhooks::purge_once`].
    #[doc(hidden)]
    pub const fn removal_duty() -> Duty {
        Duty::new("webhooks.removals", LEASE)
    }

    /// Processes pending removals unless another node does so. Returns whether this node did.
    #[doc(hidden)]
    pub async fn purge_once(&self, duty: &Duty) -> Result<bool, WebhooksError> {
        Ok(self.0.purge_once(duty).await?)
    }
}

impl Inner {
    async fn purge_once(&self, duty: &Duty) -> Result<bool, StoreError> {
        let is_ours = duty.claim(&self.store, &self.clock, &self.node).await?;
        if is_ours {
            self.purge().await?;
        }
        Ok(is_ours)
    }

    /// Deletes the deliveries of deleted webhooks, and expired secrets of webhooks.
    pub(crate) async fn purge(&self) -> Result<(), StoreError> {
        // Concurrent calls would only wait for each other's writes.
        let _alone = self.purging.lock().await;
        let mut batch = BatchSize::of_rows();
        let removals = self.removals().await?;
        let has_removals = !removals.is_empty();
        for id in removals {
            loop {
                let (its, rows) = (id.clone(), batch.limit());
                let began = self.clock.monotonic_ms();
                let write = self.store.write_queue(move |conn| {
                    Box::pin(async move {
                        conn.delete_removed_deliveries(&its, rows, PIECE_BYTES)
                            .await
                    })
                });
                if write.await? == 0 {
                    break;
                }
                let took = self.clock.monotonic_ms().saturating_sub(began);
                tokio::time::sleep(batch.took(took)).await;
            }
        }
        if has_removals {
            // Deliveries of other webhooks may have waited behind the removed ones in the same session.
            while crate::worker::revive(self).await? {}
        }
        let now = self.sweep_now().await?;
        let expired = self
            .store
            .read(move |conn| Box::pin(async move { conn.has_expired_webhook_secrets(now).await }));
        if !has_removals && !expired.await? {
            return Ok(());
        }
        let linger = i64::try_from(LINGER.as_millis()).unwrap_or(0);
        let before = Timestamp::from_millis(now.as_millis().saturating_sub(linger));
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                conn.delete_expired_webhook_secrets(now).await?;
                conn.delete_finished_removals(before).await
            })
        });
        write.await.map(drop)
    }

    async fn removals(&self) -> Result<Vec<String>, StoreError> {
        self.store
            .read(|conn| Box::pin(async move { conn.list_webhook_removals().await }))
            .await
    }
}
