//! How fast the sweep deletes old deliveries.

use super::Site;
use super::million::{Rows, fill};
use crate::table::{Goal, Report};
use anyhow::{Context, Result, ensure};
use gatehouse_domain::DeliveryId;
use gatehouse_store::Store;
use serde_json::json;
use std::time::{Duration, Instant};

/// Number of old deliveries.
const ROWS: u32 = 100_000;
/// The age of the deliveries in milliseconds. Longer than the default of `webhooks.retention_days`.
const AGE_MS: i64 = 45 * 86_400_000;
/// Timeout for the deletion. A sweep begins within a minute after the start.
const PATIENCE: Duration = Duration::from_mins(10);
const POLL: Duration = Duration::from_millis(50);

/// Measures the time from the deletion of the oldest delivery to the deletion of the newest old delivery.
pub async fn measure(site: &Site, report: &mut Report) -> Result<()> {
    let store = Store::open(&crate::prepare::location(site.installation.data_dir())).await?;
    let old = Rows {
        waiting: 0,
        age_ms: AGE_MS,
        ..Rows::recent(&site.webhook_id, usize::try_from(ROWS)?)
    };
    let [first, last] = fill(&store, &old).await?.context("no rows")?;
    store.close().await;
    let server = site.start()?;
    let mut client = server.connect().await?;
    let mut until_gone = async |id: DeliveryId| -> Result<Instant> {
        let begun = Instant::now();
        loop {
            let params = json!({ "id": id.as_str() });
            let found = site
                .installation
                .rpc_on(&mut client, "webhooks.delivery.get", params);
            if found.await.is_err() {
                return Ok(Instant::now());
            }
            ensure!(begun.elapsed() < PATIENCE, "{id} is not deleted");
            tokio::time::sleep(POLL).await;
        }
    };
    let began = until_gone(first).await?;
    let took = until_gone(last).await?.duration_since(began);
    let per_second = f64::from(ROWS) / took.as_secs_f64().max(f64::EPSILON);
    report.value(
        format!("retention: deliveries deleted per second, {ROWS} rows"),
        Goal::AtLeast(1_666.0),
        per_second,
        (0, "/s"),
    );
    server.stop()
}
