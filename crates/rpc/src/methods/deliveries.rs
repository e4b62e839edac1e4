//! The methods `webhooks.deliveries`, `webhooks.deliveries.*` and `webhooks.delivery.*`: the deliveries that
//! webhooks received.

use super::page;
use super::webhooks::IdParams;
use crate::method_entry::{Audit, Call, Method, NoParams, method};
use gatehouse_domain::{DeliveryStatus, Problem, Scope, Timestamp, input};
use gatehouse_services::to_problem;
use gatehouse_webhooks::{
    Delivery, DeliveryPage, DeliveryQuery, DeliveryRequest, Edit, Forwarding, ReplayQuery,
    Replayed, StoredPayload,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const DELIVERIES: Method = method!(
    "webhooks.deliveries",
    "Lists deliveries, newest first.",
    Some(Scope::Read),
    deliveries(DeliveriesParams) -> DeliveryPage,
    errors: [NotFound]
);

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

pub const DELIVERY_REPLAY: Method = method!(
    "webhooks.delivery.replay",
    "Runs a delivery again, as a new one; with another payload, or for another agent or channel, it is marked \
     as `edited`.",
    Some(Scope::Write),
    delivery_replay(ReplayOneParams) -> Delivery,
    long_params: true,
    errors: [NotFound],
    audit: Audit::row(
        "delivery.replayed",
        &["id", "agent", "deliver_to"],
        &["id", "webhook_id", "edited"]
    )
);

pub const DELIVERIES_REPLAY: Method = method!(
    "webhooks.deliveries.replay",
    "Runs finished deliveries again, oldest first, each as a new one; or only counts them.",
    Some(Scope::Write),
    deliveries_replay(ReplayParams) -> Replayed,
    errors: [NotFound],
    audit: Audit::row(
        "deliveries.replayed",
        &["id", "status", "event", "since", "until", "limit", "dry_run"],
        &["matched", "replayed"]
    )
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

// Requires admin: a sender that authenticates with a token sends the webhook's secret in a header.
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

/// Parameters of `webhooks.delivery.replay`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayOneParams {
    /// The delivery's ID.
    id: String,
    /// JSON that replaces the payload, at most as long as the webhook allows. Not for a schedule.
    payload: Option<String>,
    /// The agent that works on it instead of the webhook's target.
    agent: Option<String>,
    /// The channel, as `type` or `type:account`, that the agent's answer goes to. Without `agent`, the payload
    /// itself goes there.
    deliver_to: Option<String>,
}

/// Parameters of `webhooks.deliveries.replay`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayParams {
    /// Only deliveries of this webhook.
    id: Option<String>,
    /// `completed` or `failed`; both if absent.
    status: Option<DeliveryStatus>,
    /// Only deliveries with this event type; with `*` at the end, all types that start with the text before
    /// it, such as `issues.*`.
    event: Option<String>,
    /// Only deliveries received at this time or later.
    since: Option<Timestamp>,
    /// Only deliveries received before this time.
    until: Option<Timestamp>,
    /// Maximum number of deliveries, oldest first.
    #[schemars(range(min = 1, max = 10_000))]
    limit: i64,
    /// Only count the deliveries.
    #[serde(default, alias = "dryRun", deserialize_with = "input::or_default")]
    dry_run: bool,
}

/// Parameters of `webhooks.deliveries`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliveriesParams {
    /// Only deliveries of this webhook.
    id: Option<String>,
    /// Only deliveries with this status.
    status: Option<DeliveryStatus>,
    /// Only deliveries with one of these statuses.
    statuses: Option<Vec<DeliveryStatus>>,
    /// Only deliveries with this event type; with `*` at the end, all types that start with the text before
    /// it, such as `issues.*`.
    event: Option<String>,
    /// Only deliveries whose event type, entity, summary, outcome, error or preview contains this text.
    q: Option<String>,
    /// Only deliveries received at this time or later.
    from: Option<Timestamp>,
    /// Only deliveries received before this time.
    until: Option<Timestamp>,
    /// Only deliveries of a restored backup that wait for `webhooks.deliveries.release`.
    #[serde(default, deserialize_with = "input::or_default")]
    to_release: bool,
    /// Maximum number of deliveries; 50 if absent.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<i64>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

async fn deliveries(call: Call, params: DeliveriesParams) -> Result<DeliveryPage, Problem> {
    let DeliveriesParams {
        id,
        status,
        statuses,
        event,
        q,
        from,
        until,
        to_release,
        limit,
        cursor,
    } = params;
    let query = DeliveryQuery {
        webhook: id,
        statuses: statuses
            .unwrap_or_default()
            .into_iter()
            .chain(status)
            .collect(),
        event,
        text: q,
        from,
        until,
        to_release,
        limit: page::rows(limit)?,
        cursor,
    };
    call.services
        .webhooks
        .deliveries(query)
        .await
        .map_err(to_problem)
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

async fn delivery_replay(call: Call, params: ReplayOneParams) -> Result<Delivery, Problem> {
    let ReplayOneParams {
        id,
        payload,
        agent,
        deliver_to,
    } = params;
    let edit = Edit {
        payload,
        agent,
        deliver_to,
    };
    let replayed = call.services.webhooks.replay_edited(&id, &edit).await;
    replayed.map_err(to_problem)
}

async fn deliveries_replay(call: Call, params: ReplayParams) -> Result<Replayed, Problem> {
    let ReplayParams {
        id,
        status,
        event,
        since,
        until,
        limit,
        dry_run,
    } = params;
    let query = ReplayQuery {
        webhook: id,
        status,
        event,
        since,
        until,
        // Values out of bounds are rejected there.
        limit: u32::try_from(limit).unwrap_or(0),
        dry_run,
    };
    call.services
        .webhooks
        .replay_many(query)
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
