//! A table with a million rows: start, pages and filters, statistics, and a claim. Then measures the pages and
//! filters with a backlog of waiting deliveries.

use super::{Site, backlog};
use crate::figures::{median, millis};
use crate::table::{Goal, Report};
use anyhow::Result;
use gatehouse_domain::{
    Clock, DeliveryId, DeliveryStatus, ManualClock, SystemClock, SystemRandom, Timestamp, WebhookId,
};
use gatehouse_store::{ClaimRequest, NewDelivery, Store, StoreError, Take};
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rows per transaction.
const GROUP: usize = 5_000;
/// Rows that wait for the worker.
const WAITING: usize = 1_000;
/// A day in milliseconds.
const DAY_MS: i64 = 86_400_000;
const STARTS: usize = 5;
const SAMPLES: usize = 50;

/// Fills the table and measures.
pub async fn measure(site: &Site, rows: usize, report: &mut Report) -> Result<()> {
    let store = Store::open(&crate::prepare::location(site.installation.data_dir())).await?;
    eprintln!("  filling the table with {rows} rows");
    fill(&store, &Rows::recent(&site.webhook_id, rows)).await?;
    let mut claims = Vec::new();
    for number in 0..SAMPLES {
        claims.push(claim(&store, &site.webhook_id, number).await?);
    }
    store.close().await;
    let what = |what: &str| format!("{what}, {rows} rows");
    let bytes = database_bytes(site.installation.data_dir())?;
    #[expect(clippy::cast_precision_loss, reason = "numbers for people")]
    let each = bytes as f64 / rows.max(1) as f64;
    report.value(
        what("SQLite: bytes of the database per delivery, with a payload of 1,011 bytes"),
        Goal::Reported,
        each,
        (0, ""),
    );
    report.value(
        what("a claim"),
        Goal::AtMost(2.0),
        millis(median(&mut claims)),
        (2, "ms"),
    );
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let server = site.start()?;
        starts.push(server.started_in);
        server.stop()?;
    }
    report.value(
        what("start to /health"),
        Goal::AtMost(60.0),
        millis(median(&mut starts)),
        (1, "ms"),
    );
    measure_pages(site, &pages(&site.webhook_id), what, report).await?;
    backlog::measure(site, rows, report).await
}

/// A call of the web UI: a name, the method with its parameters, and the target in milliseconds.
pub(super) type Page = (&'static str, &'static str, Value, f64);

/// Starts the gateway and measures each call.
pub(super) async fn measure_pages(
    site: &Site,
    pages: &[Page],
    what: impl Fn(&str) -> String,
    report: &mut Report,
) -> Result<()> {
    let server = site.start()?;
    let mut client = server.connect().await?;
    for (name, method, params, aim) in pages {
        let mut calls = Vec::new();
        for _ in 0..SAMPLES {
            let begun = Instant::now();
            site.installation
                .rpc_on(&mut client, method, params.clone())
                .await?;
            calls.push(begun.elapsed());
        }
        let took = millis(median(&mut calls));
        report.value(what(name), Goal::AtMost(*aim), took, (2, "ms"));
    }
    server.stop()
}

/// Returns the size of the closed database.
fn database_bytes(data_dir: &Path) -> Result<u64> {
    let mut bytes = 0;
    for name in ["gatehouse.db", "gatehouse.db-wal"] {
        match data_dir.join(name).metadata() {
            Ok(found) => bytes += found.len(),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bytes)
}

/// Returns the calls of the web UI.
fn pages(webhook_id: &str) -> [Page; 11] {
    [
        ("first page", "webhooks.deliveries", json!({}), 5.0),
        (
            "first page of one webhook's",
            "webhooks.deliveries",
            json!({ "id": webhook_id }),
            5.0,
        ),
        (
            "filter: the failed",
            "webhooks.deliveries",
            json!({ "status": "failed" }),
            20.0,
        ),
        (
            "filter: the failed of one webhook",
            "webhooks.deliveries",
            json!({ "id": webhook_id, "status": "failed" }),
            20.0,
        ),
        (
            "filter: an event type",
            "webhooks.deliveries",
            json!({ "event": "push" }),
            20.0,
        ),
        (
            "filter: an event type that nothing has",
            "webhooks.deliveries",
            json!({ "event": "release" }),
            20.0,
        ),
        (
            "filter: event types that begin like one",
            "webhooks.deliveries",
            json!({ "event": "pu*" }),
            20.0,
        ),
        (
            "filter: event types that begin like none",
            "webhooks.deliveries",
            json!({ "event": "release*" }),
            20.0,
        ),
        (
            "filter: a text that nothing contains",
            "webhooks.deliveries",
            json!({ "q": "no such text" }),
            20.0,
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

/// Rows to insert.
pub(super) struct Rows<'r> {
    pub(super) webhook_id: &'r str,
    pub(super) count: usize,
    /// Number of rows at the end that wait for an attempt.
    pub(super) waiting: usize,
    /// How long ago the first row was received, in milliseconds.
    pub(super) age_ms: i64,
    /// When the waiting rows are attempted again; `None` if they have not been attempted.
    pub(super) retry_at: Option<Timestamp>,
}

impl<'r> Rows<'r> {
    /// Creates rows from yesterday. They must be older than a minute, because the rate limits read deliveries of
    /// the last minute at startup.
    pub(super) const fn recent(webhook_id: &'r str, count: usize) -> Self {
        Self {
            webhook_id,
            count,
            waiting: WAITING,
            age_ms: DAY_MS,
            retry_at: None,
        }
    }
}

/// Inserts rows. Returns the IDs of the first and the last.
pub(super) async fn fill(store: &Store, rows: &Rows<'_>) -> Result<Option<[DeliveryId; 2]>> {
    let now = SystemClock::new().now().as_millis();
    let clock = ManualClock::at(Timestamp::from_millis(now - rows.age_ms));
    let mut ends: Option<[DeliveryId; 2]> = None;
    let mut made = 0;
    while made < rows.count {
        let group: Vec<NewDelivery> = (made..rows.count.min(made + GROUP))
            .map(|number| row(&clock, rows, number))
            .collect();
        made += group.len();
        if let (Some(first), Some(last)) = (group.first(), group.last()) {
            let first = ends.map_or_else(|| first.id.clone(), |[first, _]| first);
            ends = Some([first, last.id.clone()]);
        }
        clock.advance(Duration::from_secs(1));
        let written: Result<(), StoreError> = store
            .write(move |conn| {
                Box::pin(async move { conn.insert_deliveries(&group).await.map(drop) })
            })
            .await;
        written?;
    }
    Ok(ends)
}

/// Builds a row. Nearly all rows are completed; the last ones wait.
pub(super) fn row(clock: &ManualClock, rows: &Rows<'_>, number: usize) -> NewDelivery {
    let now = clock.now();
    let waits = number + rows.waiting >= rows.count;
    let status = match number % 1000 {
        _ if waits => DeliveryStatus::Queued,
        0 => DeliveryStatus::Failed,
        1 => DeliveryStatus::Filtered,
        _ => DeliveryStatus::Completed,
    };
    let is_retried = waits && rows.retry_at.is_some();
    let id = DeliveryId::generate(clock, &SystemRandom);
    NewDelivery {
        webhook_id: WebhookId::from_text(rows.webhook_id),
        status,
        event_type: Some("push".to_owned()),
        entity_key: None,
        delivery_key: Some(format!("million-{number}")),
        unique_key: Some(format!("million-{number}")),
        duplicate_of: None,
        replay_of: None,
        session_key: format!("webhook:bench:{id}"),
        received_at: now,
        next_attempt_at: waits.then_some(rows.retry_at.unwrap_or(now)),
        headers: "{}".to_owned(),
        body_size: 1024,
        body_preview: "x".repeat(256),
        payload: Some(format!("{{\"text\":\"{}\"}}", "x".repeat(1000))),
        config: Some("{}".into()),
        error: is_retried.then(|| "The channel does not respond.".to_owned()),
        summary: Some("marie pushed 2 commits to main".to_owned()),
        bytes_key: None,
        redelivery: None,
        target: Some(Arc::from("")),
        id,
    }
}

async fn claim(store: &Store, webhook_id: &str, number: usize) -> Result<Duration> {
    let now = SystemClock::new().now();
    let request = ClaimRequest {
        owner: format!("bench-{number}"),
        now,
        lease_until: Timestamp::from_millis(now.as_millis() + 60_000),
        takes: vec![Take {
            target: String::new(),
            webhook_id: WebhookId::from_text(webhook_id),
            limit: 4,
        }],
        paced: Vec::new(),
    };
    let begun = Instant::now();
    let claimed = store
        .write(move |conn| Box::pin(async move { conn.claim_deliveries(&request).await }))
        .await;
    let took = begun.elapsed();
    let claims: gatehouse_store::Claims = claimed.map_err(|error: StoreError| error)?;
    anyhow::ensure!(claims.claimed.len() == 4, "nothing was claimed");
    Ok(took)
}
