//! Deliveries that arrive while the vault is sealed. With `vault.hold_while_sealed` they are stored encrypted
//! for the vault's public key. After an unseal they go through ingest in the order of their arrival, as of the
//! time of their arrival.
//!
//! Held deliveries are not verified, so anyone who knows a webhook's URL can use up its space. A limit per client keeps
//! a single client from taking all of it.

use super::{IngestError, Ingested, Intake, Phase};
use crate::handle::Webhooks;
use crate::live::LiveWebhook;
use crate::metrics;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use gatehouse_domain::{Actor, ClientKey, DeliveryId, DeliveryStatus, Timestamp, WebhookId};
use gatehouse_secrets::VaultError;
use gatehouse_sources::AuthMode;
use gatehouse_sources::event;
use gatehouse_sources::payload::Payload;
use gatehouse_store::{HeldDelivery, HoldLimit, NewDelivery, StoreError};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// The limit for deliveries held for a webhook.
pub(crate) const OF_WEBHOOK: HoldLimit = HoldLimit {
    deliveries: 1000,
    bytes: 64 << 20,
};
/// The limit for deliveries held for one client of a webhook.
pub(crate) const OF_CLIENT: HoldLimit = HoldLimit {
    deliveries: 500,
    bytes: 32 << 20,
};

/// The limit for deliveries held for this client of a webhook. Senders behind a proxy on the same machine that adds
/// no forwarding header all have the loopback address, so it has no share of its own.
fn share_of(client: ClientKey) -> HoldLimit {
    let is_loopback = [
        IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(Ipv6Addr::LOCALHOST),
    ]
    .into_iter()
    .any(|ip| ClientKey::of(ip) == client);
    if is_loopback { OF_WEBHOOK } else { OF_CLIENT }
}

/// The reason of a rejected delivery whose ciphertext is damaged.
const UNREADABLE: &str = "held_unreadable";

/// The request without its body. The plaintext is this as JSON, a line feed, and the body.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    url: String,
    received_at: i64,
    client_ip: Option<IpAddr>,
    /// Names, and values as Base64 because they need not be text.
    headers: Vec<(String, String)>,
}

/// A decrypted request.
struct Request {
    from: Actor,
    received_at: Timestamp,
    url: String,
    headers: HeaderMap,
    body: Bytes,
}

/// Why held deliveries could not be processed now.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReleaseError {
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Ingest(#[from] IngestError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Intake {
    /// Answers or refuses a request that only verifies the URL. Its sender waits for the answer and gets none later. The
    /// answer to a request without verification needs no secret. The others are refused, so that the sender asks again.
    fn answer_handshake(
        &self,
        headers: &HeaderMap,
        url: &str,
        body: &[u8],
    ) -> Option<Result<Ingested, IngestError>> {
        let profile = self.webhook.profile;
        profile.handshake.as_ref()?;
        let payload = Payload::read(profile.body, body).ok()?;
        if !event::is_handshake(profile, headers, &payload) {
            return None;
        }
        let is_open = self.webhook.auth.mode == AuthMode::NONE;
        let reply = is_open.then(|| self.handshake((headers, url, body), &payload));
        let reply = reply.flatten().map(Ingested::Handshake);
        Some(reply.ok_or(IngestError::Sealed))
    }

    /// Stores the request encrypted, and returns after the commit.
    pub(super) async fn hold(
        &self,
        headers: &HeaderMap,
        url: &str,
        body: &Bytes,
    ) -> Result<Ingested, IngestError> {
        if let Some(answered) = self.answer_handshake(headers, url, body) {
            return answered;
        }
        let place = self.permit().await?.map_err(|refused| {
            metrics::rate_limited(&self.webhook.id);
            IngestError::RateLimited {
                wait_ms: refused.wait_ms,
            }
        })?;
        let plaintext = self.plaintext(headers, url, body);
        let size = i64::try_from(plaintext.len()).unwrap_or(i64::MAX);
        let id = self.inner.new_delivery_id();
        let sealed = self.inner.secrets.encrypt_held(&id, plaintext).await?;
        let row = HeldDelivery {
            webhook_id: self.webhook.id.clone(),
            client: self.from.client.to_string(),
            size,
            sealed: sealed.ok_or(IngestError::Sealed)?,
            id: id.clone(),
        };
        let share = share_of(self.from.client);
        let write = self.inner.store.write(move |conn| {
            Box::pin(async move { conn.insert_held_delivery(&row, OF_WEBHOOK, share).await })
        });
        if !write.await? {
            return Err(IngestError::Sealed);
        }
        place.keep();
        // The vault may have been unsealed since the request came in.
        self.inner.held.notify_one();
        Ok(Ingested::Accepted(id))
    }

    fn plaintext(&self, headers: &HeaderMap, url: &str, body: &[u8]) -> Vec<u8> {
        let head = Head {
            url: url.to_owned(),
            received_at: self.received_at.as_millis(),
            client_ip: self.from.client_ip,
            headers: headers
                .iter()
                .map(|(name, value)| (name.to_string(), BASE64.encode(value)))
                .collect(),
        };
        // Texts and numbers always serialize.
        let mut plaintext = serde_json::to_vec(&head).unwrap_or_default();
        plaintext.push(b'\n');
        plaintext.extend_from_slice(body);
        plaintext
    }
}

impl Request {
    /// Reads the plaintext. `None` if it has another format.
    fn parse(plaintext: &[u8]) -> Option<Self> {
        let end = plaintext.iter().position(|byte| *byte == b'\n')?;
        let (head, body) = plaintext.split_at(end);
        let head: Head = serde_json::from_slice(head).ok()?;
        let mut headers = HeaderMap::with_capacity(head.headers.len());
        for (name, value) in head.headers {
            let value = BASE64.decode(value).ok()?;
            let name = HeaderName::try_from(name).ok()?;
            headers.append(name, HeaderValue::from_bytes(&value).ok()?);
        }
        let client = head.client_ip.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        Some(Self {
            from: Actor {
                name: "anonymous".to_owned(),
                client_ip: head.client_ip,
                client: ClientKey::of(client),
            },
            received_at: Timestamp::from_millis(head.received_at),
            url: head.url,
            headers,
            body: Bytes::copy_from_slice(body.get(1..)?),
        })
    }
}

impl Webhooks {
    /// Processes held deliveries in the order of their arrival, until there are none or the vault is sealed. After an
    /// error, the delivery stays for the next call. Deliveries of a webhook that cannot be read stay until the vault is
    /// unsealed again, and those of a webhook without its profile until the profiles change.
    pub(crate) async fn release_held(&self) -> Result<(), ReleaseError> {
        let mut passed: Option<DeliveryId> = None;
        let mut unreadable: HashSet<WebhookId> = HashSet::new();
        loop {
            let after = passed.clone();
            let read = self.0.store.read(move |conn| {
                Box::pin(async move {
                    let first = conn.find_next_held_delivery(after.as_ref()).await?;
                    // After a restore, the owner decides.
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
        // A crash, or another node, can leave the held delivery behind after its outcome was stored.
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

    /// The webhook of a held delivery, with its secrets. `None` if it was deleted.
    async fn held_webhook(
        &self,
        held: &HeldDelivery,
    ) -> Result<Option<Arc<LiveWebhook>>, IngestError> {
        let find = || self.0.live.find_by_id(&held.webhook_id);
        let webhook = if let Some(webhook) = find() {
            webhook
        } else {
            // This node may not have loaded it yet.
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

impl Webhooks {
    async fn exists(&self, webhook: &WebhookId) -> Result<bool, StoreError> {
        let id = webhook.clone();
        let find = self
            .0
            .store
            .read(|conn| Box::pin(async move { conn.find_webhook(id.as_str()).await }));
        Ok(find.await?.is_some())
    }
}

impl Intake {
    /// Ingests the request. Returns the row of a refused request or a duplicate; the others are stored.
    async fn release(&self, request: &Request) -> Result<Option<NewDelivery>, IngestError> {
        let (headers, body) = (&request.headers, &request.body);
        let size = u64::try_from(body.len()).unwrap_or(u64::MAX);
        let rejected = |reason: &'static str| NewDelivery {
            error: Some(reason.to_owned()),
            ..self.row(DeliveryStatus::Rejected, headers, body, size)
        };
        if self.webhook.config.schedule.is_some() {
            return Ok(Some(rejected("webhook_is_schedule")));
        }
        match self.accept(headers, &request.url, body).await {
            Ok(
                Ingested::Accepted(_)
                | Ingested::Answered(..)
                | Ingested::Filtered(_)
                | Ingested::Handshake(_),
            ) => Ok(None),
            Ok(Ingested::Deduplicated(first)) => Ok(Some(NewDelivery {
                duplicate_of: Some(first),
                ..self.row(DeliveryStatus::Deduplicated, headers, body, size)
            })),
            Err(IngestError::Unverified(error)) => Ok(Some(rejected(error.reason()))),
            Err(IngestError::Unreadable(error)) => Ok(Some(rejected(error.reason()))),
            Err(IngestError::TooLarge { .. }) => Ok(Some(rejected("body_too_large"))),
            Err(error) => Err(error),
        }
    }
}
