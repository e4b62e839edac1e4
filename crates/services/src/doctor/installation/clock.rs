//! Findings about the clock and the clocks of other nodes.

use super::{CLOCK_SLACK_MS, NOT_BEFORE_MS};
use crate::Services;
use crate::doctor::Check;
use gatehouse_domain::Timestamp;

/// Maximum difference between the clocks of this node and of the database server, in milliseconds. The clocks of
/// two nodes then differ by at most 40 seconds. Leases of deliveries and turns do not depend on the time of day.
const NODE_SLACK_MS: u64 = 20_000;

pub(in super::super) async fn clock(services: &Services) -> Check {
    let now = services.clock.now();
    let head = services
        .store
        .read(|conn| Box::pin(async move { conn.find_audit_head().await }))
        .await;
    let newest = head.ok().flatten().map(|row| row.at);
    let ahead_ms = services.measure_database_clock().await;
    ahead_ms
        .and_then(clock_of_node)
        .unwrap_or_else(|| clock_finding(now, newest))
}

/// Reports a clock that differs from that of the database server.
pub(super) fn clock_of_node(ahead_ms: i64) -> Option<Check> {
    let off_ms = ahead_ms.unsigned_abs();
    if off_ms <= NODE_SLACK_MS {
        return None;
    }
    let seconds = off_ms.div_ceil(1_000);
    let message = if ahead_ms > 0 {
        format!("This node's clock is {seconds} seconds ahead of the database server's.")
    } else {
        format!("This node's clock is {seconds} seconds behind the database server's.")
    };
    Some(Check::bad(
        "clock",
        message,
        "Set the clocks of all nodes and of the database server with NTP. Logins, signatures and the times of \
         deliveries depend on them.",
    ))
}

pub(super) fn clock_finding(now: Timestamp, newest: Option<Timestamp>) -> Check {
    let wrong = |message: &str| {
        Check::bad(
            "clock",
            message,
            "Set the clock with NTP. Logins and signatures depend on it.",
        )
    };
    if now.as_millis() < NOT_BEFORE_MS {
        return wrong("The clock shows a time in the past.");
    }
    match newest {
        Some(newest) if newest.as_millis() > now.as_millis().saturating_add(CLOCK_SLACK_MS) => {
            wrong("The clock was set back: the audit log has an event in the future.")
        }
        _ => Check::fine("clock", format!("The clock shows {now}.")),
    }
}
