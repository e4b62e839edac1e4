//! Requests as senders sent them, for a program that forwards deliveries. The requests of a webhook are kept only
//! while a client forwards them, and only in memory, because their headers contain signatures and secrets. A
//! request that is not kept is rebuilt from the stored payload, and signed in the way of its sender.

pub(crate) mod kept;
mod remade;

pub use kept::KEPT_SECONDS;

use crate::error::WebhooksError;
use crate::handle::Webhooks;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use gatehouse_domain::{DeliveryId, Timestamp, WebhookId};
use gatehouse_secrets::Status;
use http::{HeaderMap, HeaderName, HeaderValue};
use schemars::JsonSchema;
use serde::Serialize;

/// The result of `webhooks.forward`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Forwarding {
    pub webhook_id: WebhookId,
    /// Requests are kept until this time. Absent if keeping them has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_until: Option<Timestamp>,
    /// Whether other nodes may use the database. This node does not have the requests that they receive.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_other_nodes: bool,
}

/// The source of the bytes and headers of a [`DeliveryRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestOrigin {
    /// As the sender sent them.
    Original,
    /// Rebuilt from the stored payload, and signed with the webhook's secret and the current time.
    Signed,
    /// Rebuilt from the stored payload. Only the sender can sign it.
    Unsigned,
}

/// A header of a request.
#[derive(Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RequestHeader {
    /// The header's name in lower case.
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The value in Base64, if it is not visible ASCII.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_base64: Option<String>,
}

/// A delivery's HTTP request.
#[derive(Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeliveryRequest {
    pub id: DeliveryId,
    pub origin: RequestOrigin,
    /// Whether the requests of this webhook are being kept.
    pub is_kept: bool,
    /// The query of the URL, without the question mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The headers in the order of the request, without the headers of the connection.
    pub headers: Vec<RequestHeader>,
    /// The body in Base64.
    pub body: String,
}

/// Omits headers and body, because they contain secrets.
impl std::fmt::Debug for DeliveryRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeliveryRequest")
            .field("id", &self.id)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

/// Headers that belong to the sender's connection and not to the message (RFC 9110, section 7.6.1), and headers
/// that a client sets itself.
const CONNECTION: [&str; 12] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl Webhooks {
    /// Keeps the webhook's requests for [`KEPT_SECONDS`], or deletes them if `stop` is set.
    pub async fn forward(&self, id: &str, stop: bool) -> Result<Forwarding, WebhooksError> {
        let webhook_id = self.0.id_of(id).await?;
        let originals = &self.0.originals;
        let kept_until = if stop {
            originals.forget(&webhook_id);
            None
        } else {
            Some(originals.keep(&webhook_id, self.0.now())?)
        };
        Ok(Forwarding {
            webhook_id,
            kept_until,
            has_other_nodes: self.0.store.engine().is_shared(),
        })
    }

    /// Returns the request of an accepted delivery. Fails with `NotFound` if its payload is not stored.
    pub async fn delivery_request(&self, id: &str) -> Result<DeliveryRequest, WebhooksError> {
        let key = id.to_owned();
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                let payload = conn.find_delivery_payload(&key).await?;
                Ok::<_, WebhooksError>((conn.find_delivery(&key).await?, payload))
            })
        });
        let (row, payload) = read.await?;
        let row = row.ok_or(WebhooksError::NotFound("delivery"))?;
        let payload = payload.ok_or(WebhooksError::NotFound("payload"))?;
        if self.0.secrets.status() == Status::Sealed {
            return Err(WebhooksError::Sealed);
        }
        let now = self.0.now();
        let is_kept = self.0.originals.is_kept(&row.webhook_id, now);
        if let Some(original) = self.0.originals.find(&row.webhook_id, &row.id, now) {
            return Ok(DeliveryRequest {
                id: row.id,
                origin: RequestOrigin::Original,
                is_kept,
                query: original.query.clone(),
                headers: shown(&original.headers),
                body: BASE64.encode(&original.body),
            });
        }
        let mut request = self.remade(row, payload).await?;
        request.is_kept = is_kept;
        Ok(request)
    }
}

/// Returns the headers to forward.
fn shown(headers: &HeaderMap) -> Vec<RequestHeader> {
    let belongs_to_connection = |name: &HeaderName| CONNECTION.contains(&name.as_str());
    headers
        .iter()
        .filter(|(name, _)| !belongs_to_connection(name))
        .map(|(name, value)| shown_header(name, value))
        .collect()
}

fn shown_header(name: &HeaderName, value: &HeaderValue) -> RequestHeader {
    let text = value.to_str().ok();
    RequestHeader {
        name: name.as_str().to_owned(),
        value_base64: text.is_none().then(|| BASE64.encode(value.as_bytes())),
        value: text.map(str::to_owned),
    }
}
