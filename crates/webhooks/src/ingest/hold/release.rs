//! Verifies held deliveries after the vault was unlocked.

use super::{Request, UNREADABLE};
use crate::handle::Webhooks;
use crate::ingest::{IngestError, Intake, Phase};
use crate::live::LiveWebhook;
use gatehouse_domain::{Actor, DeliveryId, DeliveryStatus, WebhookId};
use gatehouse_secrets::VaultError;
use gatehouse_store::{HeldDelivery, NewDelivery, StoreError};
use http::HeaderMap;
use std::collections::HashSet;
use std::sync::Arc;

/// Why held deliveries could not be processed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReleaseError {
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Ingest(#[from] IngestError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Webhooks {
    /// Processes held deliveries in the order of their arrival, until there are none or the vault is sealed. After
    /// an error, the delivery is kept for the next call. Deliveries of an unreadable webhook are kept until the
    /// vault is next unlocked. Deliveries of a webhook without its profile are kept until the profiles change.
    pub(crate) async fn release_held(&self) -> Result<(), ReleaseError> {
        let mut passed: Option<DeliveryId> = None;
        let mut unreadable: HashSet<WebhookId> = HashSet::new();
        loop {
            let after = passed.clone();
            let read = self.0.store.read(move |conn| {
                Box::pin(async move {
                    let first = conn.find_next_held_delivery(after.as_ref()).await?;
                    // After a restore, these deliveries wait until the owner releases them.
                    if first.is_some() && conn.holds_sealed_deliveries().await? {
                        return Ok(None);
                    }
                    Ok::<_, StoreError>(first)
                })
            });
            let Some(held) = read.await? else {
                return Ok(());
            };
            if unreadable.contains(&held.webhook_id) {
                passed = Some(held.id);
                continue;
            }
            let plaintext = match self.0.secrets.decrypt_held(&held.id, &held.sealed).await {
                Ok(None) => return Ok(()),
                Ok(Some(plaintext)) => Request::parse(&plaintext),
                Err(VaultError::Undecryptable(_)) => None,
                Err(error) => return Err(error.into()),
            };
            if plaintext.is_none() {
                tracing::error!(id = %held.id, "a held delivery is damaged");
            }
            match self.release(&held, plaintext).await {
                Err(ReleaseError::Ingest(
                    error @ (IngestError::NotFound | IngestError::ProfileMissing),
                )) => {
                    tracing::error!(
                        %error,
                        webhook = %held.webhook_id,
                        "the webhook of held deliveries cannot be used; they stay"
                    );
                    unreadable.insert(held.webhook_id);
                    continue;
                }
                released => released?,
            }
            let id = held.id;
            let write = self
                .0
                .store
                .write(move |conn| Box::pin(async move { conn.delete_held_delivery(&id).await }));
            write.await?;
        }
    }

    /// Ingests a held delivery and stores its outcome under its ID. `request` is `None` if it is damaged.
    async fn release(
        &self,
        held: &HeldDelivery,
        request: Option<Request>,
    ) -> Result<(), ReleaseError> {
        let id = held.id.clone();
        let find = self
            .0
            .store
            .read(move |conn| Box::pin(async move { conn.find_delivery(id.as_str()).await }));
        // A crash or another node can leave the held delivery in the table after its outcome was stored.
        if find.await?.is_some() {
            return Ok(());
        }
        let Some(webhook) = self.held_webhook(held).await? else {
            return Ok(());
        };
        let intake = |from: Actor, received_at| Intake {
            inner: Arc::clone(&self.0),
            webhook,
            from,
            received_at,
            phase: Phase::Release(held.id.clone()),
        };
        let row = if let Some(request) = request {
            let intake = intake(request.from.clone(), request.received_at);
            intake.release(&request).await?
        } else {
            let intake = intake(Actor::system(), self.0.now());
            Some(NewDelivery {
                error: Some(UNREADABLE.to_owned()),
                ..intake.row(DeliveryStatus::Rejected, &HeaderMap::new(), &[], 0)
            })
        };
        if let Some(row) = row {
            self.0.batches.store_filtered(row).await?;
        }
        Ok(())
    }

    /// Returns the webhook of a held delivery, with its secrets. Returns `None` if the webhook was deleted.
    async fn held_webhook(
        &self,
        held: &HeldDelivery,
    ) -> Result<Option<Arc<LiveWebhook>>, IngestError> {
        let find = || self.0.live.find_by_id(&held.webhook_id);
        let webhook = if let Some(webhook) = find() {
            webhook
        } else {
            // This node may not have loaded the webhook yet.
            if !self.exists(&held.webhook_id).await? {
                return Ok(None);
            }
            self.reload().await.map_err(IngestError::Reload)?;
            find().ok_or(IngestError::NotFound)?
        };
        if !webhook.is_sealed() {
            return Ok(Some(webhook));
        }
        let reloaded = self.reload_sealed(&webhook.public_id).await;
        reloaded.map_err(IngestError::Reload)?;
        match find() {
            Some(webhook) if webhook.is_sealed() => Err(IngestError::Sealed),
            found => Ok(found),
        }
    }
}
