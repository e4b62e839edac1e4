//! The throughput of 64 connections, compared with a handler that reads and verifies but stores nothing.

use super::Site;
use crate::figures::{median, millis, percentile};
use crate::gateway::Server;
use crate::table::{Goal, Report};
use anyhow::Result;
use std::time::Duration;

const CONNECTIONS: usize = 64;
const ROUNDS: usize = 5;

/// Measures both alternately.
pub async fn measure(site: &Site, round_ms: u64, report: &mut Report) -> Result<()> {
    let target: &'static _ = Box::leak(Box::new(site.target()?));
    let gateway = site.start()?;
    let bare = Server::bare_with(&target.secret)?;
    let length = Duration::from_millis(round_ms);
    let rounds_of = |length: Duration| move |_: usize, elapsed: Duration| elapsed >= length;
    target
        .flood(&gateway, CONNECTIONS, rounds_of(length / 5))
        .await?;
    target
        .flood(&bare, CONNECTIONS, rounds_of(length / 5))
        .await?;
    let (mut ratios, mut rates, mut alone, mut costs) = (vec![], vec![], vec![], vec![]);
    let mut took = Vec::new();
    for _ in 0..ROUNDS {
        let stored = target
            .flood(&gateway, CONNECTIONS, rounds_of(length))
            .await?;
        let not = target.flood(&bare, CONNECTIONS, rounds_of(length)).await?;
        ratios.push(stored.per_second() / not.per_second());
        rates.push(stored.per_second());
        alone.push(not.per_second());
        costs.push(stored.micros_each());
        took.extend(stored.took);
    }
    report.value(
        "throughput, 64 connections, of a handler's that stores nothing",
        Goal::AtLeast(0.4),
        median(&mut ratios),
        (2, ""),
    );
    report.value(
        "deliveries a second, 64 connections, each on disk before its 202",
        Goal::AtLeast(30_000.0),
        median(&mut rates),
        (0, ""),
    );
    report.value(
        "the same, nothing stored",
        Goal::Reported,
        median(&mut alone),
        (0, ""),
    );
    report.value(
        "gateway's processor time for each delivery",
        Goal::Reported,
        median(&mut costs),
        (0, "µs"),
    );
    report.value(
        "answer at 64 connections, p99",
        Goal::AtMost(5.0),
        millis(percentile(&mut took, 0.99)),
        (1, "ms"),
    );
    gateway.stop()
}
