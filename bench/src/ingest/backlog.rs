//! Pages, filters and statistics while many deliveries wait, as during an outage of a channel.

use super::Site;
use super::million::{Page, Rows, fill, measure_pages};
use crate::owner::text;
use crate::table::Report;
use anyhow::Result;
use gatehouse_domain::{Clock, SystemClock};
use gatehouse_store::Store;
use serde_json::json;
use std::time::Duration;

/// Number of deliveries that wait for their next attempt.
const BACKLOG: usize = 200_000;
/// How long the deliveries wait. Longer than the measurement.
const RETRY_IN: Duration = Duration::from_hours(1);

/// Adds the backlog to a table with `rows` rows and measures.
pub async fn measure(site: &Site, rows: usize, report: &mut Report) -> Result<()> {
    let server = site.start()?;
    let params = json!({ "name": "waits", "source_profile": "codehost_a", "deliver_only": true });
    let made = site
        .installation
        .rpc(&server, "webhooks.create", params)
        .await?;
    server.stop()?;
    let waiting = text(&made, "id")?;
    eprintln!("  adding {BACKLOG} waiting deliveries");
    let store = Store::open(&crate::prepare::location(site.installation.data_dir())).await?;
    let retry_at = SystemClock::new().now().after(RETRY_IN);
    let backlog = Rows {
        waiting: BACKLOG,
        retry_at: Some(retry_at),
        ..Rows::recent(&waiting, BACKLOG)
    };
    fill(&store, &backlog).await?;
    store.close().await;
    let what = |what: &str| format!("{what}, {rows} rows and {BACKLOG} waiting");
    measure_pages(site, &pages(&site.webhook_id, &waiting), what, report).await
}

fn pages(busy: &str, waiting: &str) -> [Page; 13] {
    let list = |name, params| (name, "webhooks.deliveries", params, 20.0);
    [
        ("first page", "webhooks.deliveries", json!({}), 5.0),
        list("filter: the queued", json!({ "status": "queued" })),
        list("filter: the received", json!({ "status": "received" })),
        list("filter: the processing", json!({ "status": "processing" })),
        list(
            "filter: the queued of another webhook",
            json!({ "id": busy, "status": "queued" }),
        ),
        list(
            "filter: the completed of a webhook without any",
            json!({ "id": waiting, "status": "completed" }),
        ),
        list(
            "filter: event types that begin like one, of a webhook",
            json!({ "id": busy, "event": "pu*" }),
        ),
        list(
            "filter: event types that begin like none, of a webhook",
            json!({ "id": busy, "event": "release*" }),
        ),
        list(
            "filter: event types that begin like one, and a status",
            json!({ "status": "completed", "event": "pu*" }),
        ),
        list(
            "filter: event types that begin like none, and a status",
            json!({ "status": "queued", "event": "release*" }),
        ),
        list(
            "filter: a text that nothing contains, among the queued",
            json!({ "status": "queued", "q": "no such text" }),
        ),
        (
            "statistics of a day",
            "webhooks.stats",
            json!({ "hours": 24 }),
            20.0,
        ),
        (
            "statistics of a month",
            "webhooks.stats",
            json!({ "hours": 720 }),
            20.0,
        ),
    ]
}
