//! `[webhooks]`: processing and retention of deliveries.

use super::declare::settings;
use crate::key::Change::Live;

settings! {
    /// The section `[webhooks]`.
    webhooks Webhooks {
        /// Agent turns for deliveries that run at the same time. The old name of this setting is webhooks.workers.
        agent_workers: usize = whole(1, 4, 64), Write, Live;
        /// Deliveries sent to channels at the same time.
        send_workers: usize = whole(1, 64, 1024), Write, Live;
        /// Deliveries of one webhook that run at the same time. Deliveries to the inbox and the log do
        /// not count.
        per_webhook_concurrency: usize = whole(1, 8, 1024), Write, Live;
        /// Deliveries sent through one channel at the same time. The inbox and the log have no limit.
        per_account_concurrency: usize = whole(1, 8, 1024), Write, Live;
        /// Seconds without a heartbeat after which a running delivery is claimed by another worker.
        lease_seconds: u64 = whole(1, 60, 3600), Write, Live;
        /// Maximum attempts per delivery. Twelve attempts take about seven hours.
        max_attempts: u32 = whole(1, 12, 100), Write, Live;
        /// The wait before the second attempt, in milliseconds. Each further wait is four times as
        /// long, up to one hour.
        retry_base_ms: u64 = whole(1, 10_000, 3_600_000), Write, Live;
        /// Deliveries accepted per minute across all webhooks.
        global_rate_limit_per_minute: u64 = whole(1, 300, i64::MAX), Write, Live;
        /// Days to keep deliveries.
        retention_days: u32 = whole(1, 30, 3650), Write, Live;
        /// Retry a delivery if the agent's turn ended in an error.
        retry_agent_errors: bool = flag(false), Write, Live;
        /// Maximum difference between the timestamp in a tracker's payload and the clock, in
        /// seconds.
        tracker_tolerance_seconds: i64 = whole(1, 300, 86_400), Write, Live;
    }
}
