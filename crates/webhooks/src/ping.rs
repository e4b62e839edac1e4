//! Events with which a sender only tests the connection. They are recorded and acknowledged like others, but
//! start no agent.

use crate::profile::Profile;

/// Profiles and their test events: GitHub sends `ping` when a webhook is created
/// (<https://docs.github.com/en/webhooks/webhook-events-and-payloads#ping>), and PagerDuty `pagey.ping` for
/// "Send test event" (<https://developer.pagerduty.com/docs/webhooks-overview>).
const PINGS: [(&str, &str); 2] = [("codehost_a", "ping"), ("incident", "pagey.ping")];

/// Whether a delivery only tests the connection.
pub(crate) fn is_ping(profile: &Profile, event_type: Option<&str>) -> bool {
    event_type.is_some_and(|event| PINGS.contains(&(profile.id, event)))
}
