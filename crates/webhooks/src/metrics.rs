//! The metrics of this crate: all names, and the functions that record them. Labels have few values. A value that a
//! sender or model can choose freely, such as an unlisted event type or a tool name, becomes `other`.

use gatehouse_domain::{DeliveryStatus, WebhookId};
use gatehouse_sources::profile;
use metrics::{
    Counter, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

const DELIVERIES: &str = "webhooks_deliveries_total";
const REJECTED: &str = "webhooks_deliveries_rejected_total";
const FILTERED: &str = "webhooks_deliveries_filtered_total";
const DURATION: &str = "webhooks_processing_duration_seconds";
const ACTIONS: &str = "webhooks_response_actions_total";
const RATE_LIMITED: &str = "webhooks_rate_limited_total";
const REFUSALS_DROPPED: &str = "webhooks_refusals_dropped_total";
const QUEUE_DEPTH: &str = "webhooks_worker_queue_depth";
const OLDEST_WAITING: &str = "webhooks_oldest_waiting_seconds";
const LEASE_TAKEOVERS: &str = "webhooks_lease_takeovers_total";

/// The names of all metrics of this crate.
pub const NAMES: [&str; 10] = [
    DELIVERIES,
    REJECTED,
    FILTERED,
    DURATION,
    ACTIONS,
    RATE_LIMITED,
    REFUSALS_DROPPED,
    QUEUE_DEPTH,
    OLDEST_WAITING,
    LEASE_TAKEOVERS,
];

/// The label for any value that is not in a known list.
const OTHER: &str = "other";

/// The tools that a webhook's turn can call.
const TOOLS: [&str; 4] = ["calc", "channel_send", "web_search", "web_fetch"];

/// The possible outcomes of a tool call.
const ACTION_STATUSES: [&str; 4] = ["ok", "error", "denied", "expired"];

/// Describes and initializes all metrics. Call it once, after the recorder is installed.
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
    describe_gauge!(
        OLDEST_WAITING,
        "The longest time that a delivery has been waiting for a worker, in seconds."
    );
    describe_counter!(
        LEASE_TAKEOVERS,
        "Deliveries that another process took over because their lease was not renewed."
    );
    // Initializes the series without labels, so that each metric exists with the value 0.
    for name in [
        DELIVERIES,
        REJECTED,
        FILTERED,
        ACTIONS,
        RATE_LIMITED,
        REFUSALS_DROPPED,
        LEASE_TAKEOVERS,
    ] {
        counter!(name).increment(0);
    }
    drop(histogram!(DURATION));
    gauge!(QUEUE_DEPTH).set(0.0);
}

/// Returns the label for an event type. Only the types of profiles are labels, so that senders cannot add labels.
pub fn event_label(event_type: Option<&str>) -> &'static str {
    event_type
        .and_then(profile::find_event_type)
        .unwrap_or(OTHER)
}

/// Counts a delivery that reached a status. Each status of a delivery is counted once. The label is the webhook's
/// ID and not its public ID, which is part of a URL that may be the only secret of a webhook.
pub fn delivery(webhook: &WebhookId, status: DeliveryStatus, event_type: Option<&str>) {
    delivery_counter(webhook, status, event_label(event_type)).increment(1);
}

fn delivery_counter(webhook: &WebhookId, status: DeliveryStatus, event: &'static str) -> Counter {
    counter!(
        DELIVERIES,
        "webhook" => webhook.to_string(),
        "status" => status.as_str(),
        "event_type" => event
    )
}

/// The counters of one webhook's deliveries by status and event label. A counter is looked up at its first use, because
/// webhooks are loaded before the recorder is installed.
#[derive(Default)]
pub(crate) struct DeliveryCounters(RwLock<HashMap<(DeliveryStatus, &'static str), Counter>>);

impl DeliveryCounters {
    /// Like [`delivery`].
    pub(crate) fn count(
        &self,
        webhook: &WebhookId,
        status: DeliveryStatus,
        event_type: Option<&str>,
    ) {
        let event = event_label(event_type);
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(counter) = known.get(&(status, event)) {
            counter.increment(1);
            return;
        }
        drop(known);
        let counter = delivery_counter(webhook, status, event);
        counter.increment(1);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.insert((status, event), counter);
    }
}

/// Counts a rejected request. `reason` is one of a few constants.
pub fn rejected(reason: &'static str) {
    counter!(REJECTED, "reason" => reason).increment(1);
}

/// Counts a filtered delivery.
pub fn filtered(webhook: &WebhookId) {
    counter!(FILTERED, "webhook" => webhook.to_string()).increment(1);
}

/// Counts a request refused by a rate limit.
pub fn rate_limited(webhook: &WebhookId) {
    counter!(RATE_LIMITED, "webhook" => webhook.to_string()).increment(1);
}

/// Counts a refusal that was not recorded in the database.
pub fn refusal_dropped() {
    counter!(REFUSALS_DROPPED).increment(1);
}

/// Records how long an agent worked on a delivery.
pub fn processing_duration(milliseconds: u64) {
    // A delivery takes hours at most, which a float represents exactly in milliseconds.
    let seconds = Duration::from_millis(milliseconds).as_secs_f64();
    histogram!(DURATION).record(seconds);
}

/// Counts a tool call by an agent.
pub fn response_action(tool: &str, status: &str) {
    let (tool, status) = action_labels(tool, status);
    counter!(ACTIONS, "tool" => tool, "status" => status).increment(1);
}

pub(crate) fn action_labels(tool: &str, status: &str) -> (&'static str, &'static str) {
    (known(&TOOLS, tool), known(&ACTION_STATUSES, status))
}

fn known(values: &[&'static str], value: &str) -> &'static str {
    let mut values = values.iter().copied();
    values.find(|known| *known == value).unwrap_or(OTHER)
}

/// Counts deliveries whose leases another process stopped renewing.
pub(crate) fn taken_over(deliveries: usize) {
    counter!(LEASE_TAKEOVERS).increment(u64::try_from(deliveries).unwrap_or(u64::MAX));
}

/// Sets the waiting time of the delivery that has waited longest; `None` if it is unknown.
pub fn oldest_waiting(wait: Option<Duration>) {
    gauge!(OLDEST_WAITING).set(wait.map_or(f64::NAN, |wait| wait.as_secs_f64()));
}

/// Sets the number of waiting deliveries.
pub fn queue_depth(depth: i64) {
    // Saturates at `u32::MAX`.
    gauge!(QUEUE_DEPTH).set(f64::from(u32::try_from(depth).unwrap_or(u32::MAX)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use metrics_exporter_prometheus::PrometheusBuilder;

    #[test]
    fn a_kept_counter_counts_like_one_that_is_looked_up() {
        let recorder = PrometheusBuilder::new().build_recorder();
        let webhook = WebhookId::from_text("hook_a");
        let counters = DeliveryCounters::default();
        ::metrics::with_local_recorder(&recorder, || {
            let queued = DeliveryStatus::Queued;
            for event in [Some("push"), Some("push"), None] {
                counters.count(&webhook, queued, event);
                delivery(&webhook, queued, event);
            }
            counters.count(&webhook, DeliveryStatus::Filtered, Some("push"));
        });
        let text = recorder.handle().render();
        for line in [
            r#"webhooks_deliveries_total{webhook="hook_a",status="queued",event_type="push"} 4"#,
            r#"webhooks_deliveries_total{webhook="hook_a",status="queued",event_type="other"} 2"#,
            r#"webhooks_deliveries_total{webhook="hook_a",status="filtered",event_type="push"} 1"#,
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
