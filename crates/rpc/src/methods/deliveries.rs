//! The methods `webhooks.deliveries`, `webhooks.deliveries.*` and `webhooks.delivery.*`: the deliveries that
//! webhooks received.

mod list;
mod replay;

use super::webhooks::IdParams;
use crate::method_entry::{Audit, Call, Method, NoParams, method};
use gatehouse_domain::{Problem, Scope, input};
use gatehouse_services::to_problem;
use gatehouse_webhooks::{Delivery, DeliveryRequest, Forwarding, StoredPayload};
pub use list::{DELIVERIES, DeliveriesParams};
pub use replay::{DELIVERIES_REPLAY, DELIVERY_REPLAY, ReplayOneParams, ReplayParams};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const DELIVERY_GET: Method = method!(
    "webhooks.delivery.get",
    "Returns a delivery.",
    Some(Scope::Read),
    delivery_get(IdParams) -> Delivery,
    errors: [NotFound]
);

pub const DELIVERY_PAYLOAD: Method = method!(
    "webhooks.delivery.payload",
    "Returns the payload of a delivery.",
    Some(Scope::Read),
    delivery_payload(IdParams) -> StoredPayload,
    errors: [NotFound]
);

pub const DELIVERY_CANCEL: Method = method!(
    "webhooks.delivery.cancel",
    "Stops a waiting or running delivery and marks it as failed.",
    Some(Scope::Write),
    delivery_cancel(IdParams) -> Delivery,
    errors: [NotFound, Conflict],
    audit: Audit::row("delivery.cancelled", &["id"], &["webhook_id"])
);

pub const DELIVERY_RETRY: Method = method!(
    "webhooks.delivery.retry",
    "Attempts a waiting delivery immediately.",
    Some(Scope::Write),
    delivery_retry(IdParams) -> Delivery,
    errors: [NotFound, Conflict],
    audit: Audit::row("delivery.retried", &["id"], &["webhook_id"])
);

pub const DELIVERIES_RELEASE: Method = method!(
    "webhooks.deliveries.release",
    "Releases the deliveries of a restored backup that are held.",
    Some(Scope::Write),
    deliveries_release(NoParams) -> Released,
    audit: Audit::row("deliveries.released", &[], &["released"])
);

// Requires admin. If a sender authenticates with a token, the stored headers contain the webhook's
// secret.
pub const DELIVERY_REQUEST: Method = method!(
    "webhooks.delivery.request",
    "Returns the HTTP request of a delivery: as it arrived if `webhooks.forward` keeps it, otherwise \
     rebuilt from the payload and signed now.",
    Some(Scope::Admin),
    delivery_request(IdParams) -> DeliveryRequest,
    errors: [NotFound, VaultSealed]
);

pub const FORWARD: Method = method!(
    "webhooks.forward",
    "Keeps the requests of a webhook in memory for ten minutes, with all headers, for a program that forwards \
     them.",
    Some(Scope::Admin),
    forward(ForwardParams) -> Forwarding,
    errors: [NotFound, Conflict],
    audit: Audit::row("webhook.forwarded", &["id", "stop"], &["webhook_id"]).outside()
);

/// Parameters of `webhooks.forward`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForwardParams {
    /// The webhook's ID or public ID.
    id: String,
    /// Discard the requests instead.
    #[serde(default, deserialize_with = "input::or_default")]
    stop: bool,
}

/// The answer of `webhooks.deliveries.release`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Released {
    /// The number of deliveries that can run now.
    released: u64,
}

async fn delivery_get(call: Call, params: IdParams) -> Result<Delivery, Problem> {
    call.services
        .webhooks
        .delivery(&params.id)
        .await
        .map_err(to_problem)
}

async fn delivery_payload(call: Call, params: IdParams) -> Result<StoredPayload, Problem> {
    call.services
        .webhooks
        .payload(&params.id)
        .await
        .map_err(to_problem)
}

async fn delivery_cancel(call: Call, params: IdParams) -> Result<Delivery, Problem> {
    let webhooks = &call.services.webhooks;
    webhooks
        .cancel_delivery(&params.id)
        .await
        .map_err(to_problem)
}

async fn delivery_retry(call: Call, params: IdParams) -> Result<Delivery, Problem> {
    let webhooks = &call.services.webhooks;
    webhooks
        .retry_delivery(&params.id)
        .await
        .map_err(to_problem)
}

async fn delivery_request(call: Call, params: IdParams) -> Result<DeliveryRequest, Problem> {
    let webhooks = &call.services.webhooks;
    let request = webhooks.delivery_request(&params.id).await;
    request.map_err(to_problem)
}

async fn forward(call: Call, params: ForwardParams) -> Result<Forwarding, Problem> {
    let webhooks = &call.services.webhooks;
    let kept = webhooks.forward(&params.id, params.stop).await;
    kept.map_err(to_problem)
}

async fn deliveries_release(call: Call, _: NoParams) -> Result<Released, Problem> {
    let webhooks = &call.services.webhooks;
    let released = webhooks.release_deliveries().await.map_err(to_problem)?;
    Ok(Released { released })
}
