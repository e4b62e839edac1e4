//! The metrics of this room: every name, and the one place that counts. Labels have few values: what a
//! sender can choose freely (an event type that no profile lists, a reason, a tool's name) is `other`.
//! Knows no delivery and no worker.

use crate::profile;
use gatehouse_domain::DeliveryStatus;
use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use std::collections::HashSet;
use std::sync::LazyLock;

const DELIVERIES: &str = "webhooks_deliveries_total";
const REJECTED: &str = "webhooks_deliveries_rejected_total";
const FILTERED: &str = "webhooks_deliveries_filtered_total";
const DURATION: &str = "webhooks_processing_duration_seconds";
const ACTIONS: &str = "webhooks_response_actions_total";
const RATE_LIMITED: &str = "webhooks_rate_limited_total";
const REFUSALS_DROPPED: &str = "webhooks_refusals_dropped_total";
const QUEUE_DEPTH: &str = "webhooks_worker_queue_depth";

/// The names of all metrics of this room.
pub const NAMES: [&str; 8] = [
    DELIVERIES,
    REJECTED,
    FILTERED,
    DURATION,
    ACTIONS,
    RATE_LIMITED,
    REFUSALS_DROPPED,
    QUEUE_DEPTH,
];

/// What a label is when its value is not one of a known few.
const OTHER: &str = "other";

/// The tools that a webhook's turn can call at all.
const TOOLS: [&str; 3] = ["calc", "web_search", "web_fetch"];

/// How a tool call ends.
const ACTION_STATUSES: [&str; 3] = ["ok", "error", "denied"];

/// Every event type that a profile lists, offered or not: a table of ours, so that no sender can make it
/// longer.
static EVENT_TYPES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let profiles = profile::all().iter();
    profiles
        .flat_map(|profile| profile.catalog().map(|event| event.name))
        .collect()
});

/// Says what each metric is, and makes all of them exist before the first delivery. Call it once the
/// recorder is installed.
pub fn describe() {
    describe_counter!(DELIVERIES, "Deliveries by webhook, status and event type.");
    describe_counter!(REJECTED, "Rejected deliveries by reason.");
    describe_counter!(FILTERED, "Filtered deliveries.");
    describe_histogram!(
        DURATION,
        "How long agents worked on deliveries, in seconds."
    );
    describe_counter!(
        ACTIONS,
        "Tool calls of agents that worked on deliveries, by tool and status."
    );
    describe_counter!(RATE_LIMITED, "Requests that were refused by a rate limit.");
    describe_counter!(
        REFUSALS_DROPPED,
        "Refused deliveries that were not stored because too many came at once."
    );
    describe_gauge!(QUEUE_DEPTH, "Deliveries that wait for a worker.");
    // Without a label: the series that say "there were none yet".
    for name in [
        DELIVERIES,
        REJECTED,
        FILTERED,
        ACTIONS,
        RATE_LIMITED,
        REFUSALS_DROPPED,
    ] {
        counter!(name).increment(0);
    }
    drop(histogram!(DURATION));
    gauge!(QUEUE_DEPTH).set(0.0);
}

/// The label of an event type.
pub fn event_label(event_type: Option<&str>) -> &'static str {
    event_type
        .and_then(|name| EVENT_TYPES.get(name).copied())
        .unwrap_or(OTHER)
}

/// A delivery reached a status: each status that it passes is counted once.
pub fn delivery(public_id: &str, status: DeliveryStatus, event_type: Option<&str>) {
    counter!(
        DELIVERIES,
        "webhook" => public_id.to_owned(),
        "status" => status.as_str(),
        "event_type" => event_label(event_type)
    )
    .increment(1);
}

/// A request was rejected. The reason is one of the few that the code knows.
pub fn rejected(reason: &'static str) {
    counter!(REJECTED, "reason" => reason).increment(1);
}

/// A delivery was filtered.
pub fn filtered(public_id: &str) {
    counter!(FILTERED, "webhook" => public_id.to_owned()).increment(1);
}

/// A request was refused by a rate limit.
pub fn rate_limited(public_id: &str) {
    counter!(RATE_LIMITED, "webhook" => public_id.to_owned()).increment(1);
}

/// A row about a refusal was not stored.
pub fn refusal_dropped() {
    counter!(REFUSALS_DROPPED).increment(1);
}

/// An agent worked this long on a delivery.
pub fn processing_duration(milliseconds: u64) {
    // An hour is 3.6 million milliseconds: far below what a float holds exactly.
    let seconds = std::time::Duration::from_millis(milliseconds).as_secs_f64();
    histogram!(DURATION).record(seconds);
}

/// An agent called a tool.
pub fn response_action(tool: &str, status: &str) {
    let (tool, status) = action_labels(tool, status);
    counter!(ACTIONS, "tool" => tool, "status" => status).increment(1);
}

/// The labels of a tool call.
pub(crate) fn action_labels(tool: &str, status: &str) -> (&'static str, &'static str) {
    (known(&TOOLS, tool), known(&ACTION_STATUSES, status))
}

fn known(values: &[&'static str], value: &str) -> &'static str {
    let mut values = values.iter().copied();
    values.find(|known| *known == value).unwrap_or(OTHER)
}

/// How many deliveries wait.
pub fn queue_depth(depth: i64) {
    // A queue of more than four thousand million is told as that.
    gauge!(QUEUE_DEPTH).set(f64::from(u32::try_from(depth).unwrap_or(u32::MAX)));
}
