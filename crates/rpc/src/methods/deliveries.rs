//! `webhooks.deliveries`, `webhooks.deliveries.*` and `webhooks.delivery.*`: what webhooks have taken in.

use super::page;
use super::webhooks::IdParams;
use crate::method::{Audit, Call, Method, method, told};
use gatehouse_domain::{DeliveryStatus, Problem, Scope, Timestamp};
use gatehouse_webhooks::{
    Delivery, DeliveryPage, DeliveryQuery, ReplayQuery, Replayed, StoredPayload,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// `webhooks.deliveries`.
pub const DELIVERIES: Method = method!(
    "webhooks.deliveries",
    "Deliveries, the newest first.",
    Some(Scope::Read),
    deliveries(DeliveriesParams) -> DeliveryPage,
    errors: [NotFound]
);

/// `webhooks.delivery.get`.
pub const DELIVERY_GET: Method = method!(
    "webhooks.delivery.get",
    "One delivery.",
    Some(Scope::Read),
    delivery_get(IdParams) -> Delivery,
    errors: [NotFound]
);

/// `webhooks.delivery.payload`.
pub const DELIVERY_PAYLOAD: Method = method!(
    "webhooks.delivery.payload",
    "What a delivery brought.",
    Some(Scope::Read),
    delivery_payload(IdParams) -> StoredPayload,
    errors: [NotFound]
);

/// `webhooks.delivery.replay`.
pub const DELIVERY_REPLAY: Method = method!(
    "webhooks.delivery.replay",
    "Runs a delivery once more, as a new one.",
    Some(Scope::Write),
    delivery_replay(IdParams) -> Delivery,
    errors: [NotFound],
    audit: Audit::row("delivery.replayed", &["id"], &["id", "webhook_id"])
);

/// `webhooks.deliveries.replay`.
pub const DELIVERIES_REPLAY: Method = method!(
    "webhooks.deliveries.replay",
    "Runs deliveries that ended once more, the oldest first, each as a new one; or only counts them.",
    Some(Scope::Write),
    deliveries_replay(ReplayParams) -> Replayed,
    errors: [NotFound],
    audit: Audit::row(
        "deliveries.replayed",
        &["id", "status", "event", "since", "until", "limit", "dry_run"],
        &["matched", "replayed"]
    )
);

/// `webhooks.delivery.cancel`.
pub const DELIVERY_CANCEL: Method = method!(
    "webhooks.delivery.cancel",
    "Ends a delivery that waits or runs, as failed.",
    Some(Scope::Write),
    delivery_cancel(IdParams) -> Delivery,
    errors: [NotFound, Conflict],
    audit: Audit::row("delivery.cancelled", &["id"], &["webhook_id"])
);

/// `webhooks.delivery.retry`.
pub const DELIVERY_RETRY: Method = method!(
    "webhooks.delivery.retry",
    "Tries a waiting delivery now.",
    Some(Scope::Write),
    delivery_retry(IdParams) -> Delivery,
    errors: [NotFound, Conflict],
    audit: Audit::row("delivery.retried", &["id"], &["webhook_id"])
);

/// Params of `webhooks.deliveries.replay`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayParams {
    /// Only of this webhook.
    id: Option<String>,
    /// `completed` or `failed`; both when absent.
    status: Option<DeliveryStatus>,
    /// Only of this event type.
    event: Option<String>,
    /// Only those that came at this moment or later.
    since: Option<Timestamp>,
    /// Only those that came before this moment.
    until: Option<Timestamp>,
    /// How many at most, the oldest first.
    #[schemars(range(min = 1, max = 10_000))]
    limit: i64,
    /// Only count them.
    #[serde(default, alias = "dryRun")]
    dry_run: bool,
}

/// Params of `webhooks.deliveries`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliveriesParams {
    /// Only of this webhook.
    id: Option<String>,
    /// Only with this status.
    status: Option<DeliveryStatus>,
    /// Only of this event type.
    event: Option<String>,
    /// Only where the event type, the entity, the error or the preview contains this text.
    q: Option<String>,
    /// Only those that came at this moment or later.
    from: Option<Timestamp>,
    /// Only those that came before this moment.
    until: Option<Timestamp>,
    /// How many at most; 50 when absent.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<i64>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

async fn deliveries(call: Call, params: DeliveriesParams) -> Result<DeliveryPage, Problem> {
    let DeliveriesParams {
        id,
        status,
        event,
        q,
        from,
        until,
        limit,
        cursor,
    } = params;
    let query = DeliveryQuery {
        webhook: id,
        status,
        event,
        text: q,
        from,
        until,
        limit: page::rows(limit)?,
        cursor,
    };
    call.rooms.webhooks.deliveries(query).await.map_err(told)
}

async fn delivery_get(call: Call, params: IdParams) -> Result<Delivery, Problem> {
    call.rooms.webhooks.delivery(&params.id).await.map_err(told)
}

async fn delivery_payload(call: Call, params: IdParams) -> Result<StoredPayload, Problem> {
    call.rooms.webhooks.payload(&params.id).await.map_err(told)
}

async fn delivery_replay(call: Call, params: IdParams) -> Result<Delivery, Problem> {
    call.rooms.webhooks.replay(&params.id).await.map_err(told)
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
        // One that is out of bounds is refused there.
        limit: u32::try_from(limit).unwrap_or(0),
        dry_run,
    };
    call.rooms.webhooks.replay_many(query).await.map_err(told)
}

async fn delivery_cancel(call: Call, params: IdParams) -> Result<Delivery, Problem> {
    let webhooks = &call.rooms.webhooks;
    webhooks.cancel_delivery(&params.id).await.map_err(told)
}

async fn delivery_retry(call: Call, params: IdParams) -> Result<Delivery, Problem> {
    let webhooks = &call.rooms.webhooks;
    webhooks.retry_delivery(&params.id).await.map_err(told)
}
