//! `[webhooks]`: processing and retention of deliveries.

use crate::key::{Change, Guard, Initial, KeySpec, Kind};
use crate::merge::{Bad, Reader};

const fn number(
    key: &'static str,
    (min, initial, max): (i64, i64, i64),
    doc: &'static str,
    change: Change,
) -> KeySpec {
    KeySpec {
        key,
        kind: Kind::Whole { min, max },
        default: Initial::Whole(initial),
        doc,
        example: "",
        guard: Guard::Write,
        change,
    }
}

pub(crate) const KEYS: &[KeySpec] = &[
    number(
        "webhooks.agent_workers",
        (1, 4, 64),
        "Turns of agents that run at a time for deliveries. Its old name is webhooks.workers.",
        Change::Live,
    ),
    number(
        "webhooks.send_workers",
        (1, 64, 1024),
        "Deliveries sent to channels at a time.",
        Change::Live,
    ),
    number(
        "webhooks.per_webhook_concurrency",
        (1, 8, 1024),
        "Deliveries of one webhook that run at a time. Deliveries to the inbox and the log do \
         not count.",
        Change::Live,
    ),
    number(
        "webhooks.per_account_concurrency",
        (1, 8, 1024),
        "Deliveries sent through one channel at a time. The inbox and the log have no limit.",
        Change::Live,
    ),
    number(
        "webhooks.lease_seconds",
        (1, 60, 3600),
        "Seconds without a heartbeat after which a running delivery is claimed by another worker.",
        Change::Live,
    ),
    number(
        "webhooks.max_attempts",
        (1, 12, 100),
        "Maximum attempts per delivery. Twelve attempts take about seven hours.",
        Change::Live,
    ),
    number(
        "webhooks.retry_base_ms",
        (1, 10_000, 3_600_000),
        "The wait before the second attempt, in milliseconds. Each further wait is four times as \
         long, up to one hour.",
        Change::Live,
    ),
    number(
        "webhooks.global_rate_limit_per_minute",
        (1, 300, i64::MAX),
        "Deliveries accepted per minute across all webhooks.",
        Change::Live,
    ),
    number(
        "webhooks.retention_days",
        (1, 30, 3650),
        "Days to keep deliveries.",
        Change::Live,
    ),
    KeySpec {
        key: "webhooks.retry_agent_errors",
        kind: Kind::Flag,
        default: Initial::Flag(false),
        doc: "Retry a delivery if the agent's turn ended in an error.",
        example: "",
        guard: Guard::Write,
        change: Change::Live,
    },
    number(
        "webhooks.tracker_tolerance_seconds",
        (1, 300, 86_400),
        "Maximum difference between the timestamp in a tracker's payload and the clock, in \
         seconds.",
        Change::Live,
    ),
];

/// `[webhooks]`
#[derive(Clone, Debug)]
pub struct Webhooks {
    /// How many agent turns run concurrently.
    pub agent_workers: usize,
    /// How many deliveries are sent concurrently.
    pub send_workers: usize,
    /// How many deliveries of one webhook run concurrently.
    pub per_webhook_concurrency: usize,
    /// How many deliveries are sent through one channel account concurrently.
    pub per_account_concurrency: usize,
    /// How long a running delivery keeps its lease without renewing it.
    pub lease_seconds: u64,
    pub max_attempts: u32,
    /// The delay before the second attempt.
    pub retry_base_ms: u64,
    /// How many deliveries are accepted per minute across all webhooks.
    pub global_rate_limit_per_minute: u32,
    pub retention_days: u32,
    /// Whether a turn that ended in an error is retried.
    pub retry_agent_errors: bool,
    /// The maximum clock difference of a tracker's timestamp.
    pub tracker_tolerance_seconds: i64,
}

impl Webhooks {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, Bad> {
        Ok(Self {
            agent_workers: reader.whole("webhooks.agent_workers")?,
            send_workers: reader.whole("webhooks.send_workers")?,
            per_webhook_concurrency: reader.whole("webhooks.per_webhook_concurrency")?,
            per_account_concurrency: reader.whole("webhooks.per_account_concurrency")?,
            lease_seconds: reader.whole("webhooks.lease_seconds")?,
            max_attempts: reader.whole("webhooks.max_attempts")?,
            retry_base_ms: reader.whole("webhooks.retry_base_ms")?,
            // A limit that the counter cannot reach in a minute is no limit.
            global_rate_limit_per_minute: u32::try_from(
                reader.whole::<u64>("webhooks.global_rate_limit_per_minute")?,
            )
            .unwrap_or(u32::MAX),
            retention_days: reader.whole("webhooks.retention_days")?,
            retry_agent_errors: reader.flag("webhooks.retry_agent_errors")?,
            tracker_tolerance_seconds: reader.whole("webhooks.tracker_tolerance_seconds")?,
        })
    }
}
