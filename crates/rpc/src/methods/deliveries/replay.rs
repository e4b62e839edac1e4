//! Replays deliveries.

use crate::method_entry::{Audit, Call, Method, method};
use gatehouse_domain::{DeliveryStatus, Problem, Scope, Timestamp, input};
use gatehouse_services::to_problem;
use gatehouse_webhooks::{Delivery, Edit, ReplayQuery, Replayed};
use schemars::JsonSchema;
use serde::Deserialize;

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
        // A value out of bounds becomes 0, which the replay rejects.
        limit: u32::try_from(limit).unwrap_or(0),
        dry_run,
    };
    call.services
        .webhooks
        .replay_many(query)
        .await
        .map_err(to_problem)
}
