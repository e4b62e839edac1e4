//! The growth of the gateway's memory while it receives many deliveries.

use super::Site;
use crate::figures::mebibytes;
use crate::table::{Goal, Report};
use anyhow::Result;

const CONNECTIONS: usize = 64;

/// Measures the growth.
pub async fn measure(site: &Site, deliveries: usize, report: &mut Report) -> Result<()> {
    let target: &'static _ = Box::leak(Box::new(site.target()?));
    let gateway = site.start()?;
    // The memory for connections, caches and the first pages does not count as growth.
    let warm = |sent: usize, _| sent >= 20;
    target.flood(&gateway, CONNECTIONS, warm).await?;
    let before = gateway.resident_bytes()?;
    let each = deliveries.div_ceil(CONNECTIONS);
    let all = target
        .flood(&gateway, CONNECTIONS, move |sent, _| sent >= each)
        .await?;
    let grown = gateway.resident_bytes()?.saturating_sub(before);
    let what = format!("memory growth over {} deliveries", all.took.len());
    report.value(what, Goal::AtMost(40.0), mebibytes(grown), (1, "MiB"));
    gateway.stop()
}
