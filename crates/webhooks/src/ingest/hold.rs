//! Deliveries that arrive while the vault is sealed. With `vault.hold_while_sealed`, they are stored encrypted for
//! the vault's public key. After the vault is unlocked, they go through ingest in the order of their arrival and
//! with the time of their arrival.
//!
//! Held deliveries are not verified, so anyone who knows a webhook's URL can use up its space. A limit per client
//! prevents that a single client uses all of it.

mod release;

use super::{IngestError, Ingested, Intake};
use crate::handle::Webhooks;
use crate::metrics;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use gatehouse_domain::{Actor, ClientKey, DeliveryStatus, Timestamp, WebhookId};
use gatehouse_sources::AuthMode;
use gatehouse_sources::event;
use gatehouse_sources::payload::Payload;
use gatehouse_store::{HeldDelivery, HoldLimit, NewDelivery, StoreError};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

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

/// Returns the limit for deliveries held for this client of a webhook. The loopback address gets the limit of the
/// webhook, because all senders behind a proxy on this machine have this address if the proxy adds no forwarding
/// header.
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

/// The request without its body. The plaintext is this struct as JSON, a line feed, and the body.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    url: String,
    received_at: i64,
    client_ip: Option<IpAddr>,
    /// Names and values. The values are Base64, because they need not be text.
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

impl Intake {
    /// Answers or refuses a request that only verifies the URL. Its sender waits for the answer, so the request
    /// cannot be held. The answer for a webhook without verification needs no secret. All other such requests are
    /// refused, so that the sender retries.
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
        // The vault may have been unlocked after the request arrived.
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
    /// Parses the plaintext. Returns `None` if it has a different format.
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
    /// Ingests the request. Returns the row of a refused request or of a duplicate, which the caller stores. All
    /// other deliveries are already stored.
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
