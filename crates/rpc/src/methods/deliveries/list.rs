//! Lists deliveries.

use crate::method_entry::{Call, Method, method};
use crate::methods::page;
use gatehouse_domain::{DeliveryStatus, Problem, Scope, Timestamp, input};
use gatehouse_services::to_problem;
use gatehouse_webhooks::{DeliveryPage, DeliveryQuery};
use schemars::JsonSchema;
use serde::Deserialize;

pub const DELIVERIES: Method = method!(
    "webhooks.deliveries",
    "Lists deliveries, newest first.",
    Some(Scope::Read),
    deliveries(DeliveriesParams) -> DeliveryPage,
    errors: [NotFound]
);

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
