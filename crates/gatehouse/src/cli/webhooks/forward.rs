//! `webhooks forward`: sends deliveries to a program on this machine, with the bytes and headers of their senders.
//! Polls like `webhooks tail`. A delivery is forwarded when it appears in the list and its ID was not forwarded before.
//! A lost connection or a restarted server therefore neither loses nor repeats a delivery. Deliveries that are held
//! while the vault is sealed appear later, with the time of their arrival.

mod delivery;
mod flags;
mod local;

use super::items;
use crate::cli::client::{Client, ClientError};
use crate::cli::output::{Output, field, note, warn};
use anyhow::Result;
pub use flags::Flags;
use flags::{is_wanted, next_from, since};
use local::Local;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::Instant;

/// The wait between two queries for deliveries.
const EVERY: Duration = Duration::from_millis(500);

/// The interval at which the client asks the server to keep requests. Each time, the server keeps them for twice this
/// interval.
const RENEWED: Duration = Duration::from_mins(5);
/// The limit of the API for a page.
const PAGE: usize = 500;
/// The maximum wait for the server at the end.
const FAREWELL: Duration = Duration::from_secs(2);
/// The warning if several nodes may share the database. A load balancer may send the queries for requests to any of
/// them.
const OTHER_NODES: &str = "If several nodes share this database, only deliveries that reach the same node as this \
                           command have the sender's bytes and headers. The others are signed again. Give the URL \
                           of one node with --url, and send to that node.";
/// Statuses of deliveries that passed verification, filter and deduplication.
const ACCEPTED: [&str; 5] = ["received", "queued", "processing", "completed", "failed"];

struct Forwarder<'a> {
    client: &'a Client,
    out: &'a Output,
    local: Local,
    webhook: String,
    events: Vec<String>,
    /// The earliest time of receipt to consider. `None` means any time.
    from: Option<String>,
    /// The IDs of the deliveries since `from` that were already forwarded.
    done: HashSet<String>,
    keep_again: Instant,
    is_away: bool,
    count: u64,
}

/// Forwards deliveries until SIGINT.
pub async fn run(client: &Client, out: &Output, flags: Flags) -> Result<()> {
    let local = Local::new(&flags.to)?;
    let since = flags.since.as_deref().map(since).transpose()?;
    let mut forwarder = Forwarder {
        client,
        out,
        local,
        webhook: flags.id,
        events: flags.event,
        from: since.clone(),
        done: HashSet::new(),
        keep_again: Instant::now(),
        is_away: false,
        count: 0,
    };
    // This fails early if no server answers, the key lacks a permission, or the webhook does not
    // exist.
    let kept = forwarder.keep().await?;
    if since.is_none() {
        forwarder.begin_now().await?;
    }
    if !out.is_json() {
        note(format!(
            "Forwarding deliveries to {}. Stop with Ctrl-C.",
            flags.to
        ));
        if kept.get("has_other_nodes") == Some(&json!(true)) {
            note(OTHER_NODES);
        }
    }
    let interrupt = tokio::signal::ctrl_c();
    let ended = tokio::select! {
        ended = forwarder.forward() => ended,
        pressed = interrupt => pressed.map_err(Into::into),
    };
    let stop = json!({ "id": forwarder.webhook, "stop": true });
    // If the server does not respond, it discards the requests after a while.
    drop(tokio::time::timeout(FAREWELL, client.rpc("webhooks.forward", stop)).await);
    if !out.is_json() {
        let count = forwarder.count;
        let what = if count == 1 { "delivery" } else { "deliveries" };
        note(format!("Forwarded {count} {what}."));
    }
    ended
}

impl Forwarder<'_> {
    /// Requests that the server keep requests with their headers. Returns its answer.
    async fn keep(&mut self) -> Result<Value, ClientError> {
        let params = json!({ "id": self.webhook });
        let kept = self.client.rpc("webhooks.forward", params).await?;
        self.keep_again = Instant::now() + RENEWED;
        Ok(kept)
    }

    /// Marks the existing deliveries as forwarded.
    async fn begin_now(&mut self) -> Result<(), ClientError> {
        let params = json!({ "id": self.webhook, "limit": 1 });
        let newest = self.client.rpc("webhooks.deliveries", params).await?;
        let held_since = newest.get("held_since").and_then(Value::as_str);
        if let Some(newest) = items(&newest).first() {
            self.from = next_from(None, Some(&field(newest, "received_at")), held_since);
            let (there, _) = self.look().await?;
            self.done = there.iter().map(|item| field(item, "id")).collect();
        }
        Ok(())
    }

    async fn forward(&mut self) -> Result<()> {
        loop {
            match self.turn().await {
                Ok(()) => self.is_away = false,
                Err(error) => self.wait_for(error)?,
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    /// Handles an error of the server: waits until it responds again, or ends the command.
    fn wait_for(&mut self, error: ClientError) -> Result<()> {
        let Some(why) = error.outage() else {
            return Err(error.into());
        };
        if !self.is_away {
            warn(format!(
                "{why}; waiting for it. What arrives meanwhile is forwarded afterward"
            ));
        }
        self.is_away = true;
        // A restarted server keeps no requests until this command requests it again.
        self.keep_again = Instant::now();
        Ok(())
    }

    /// Forwards new deliveries, oldest first.
    async fn turn(&mut self) -> Result<(), ClientError> {
        if Instant::now() >= self.keep_again {
            self.keep().await?;
        }
        let (there, held_since) = self.look().await?;
        for item in there.iter().rev() {
            let id = field(item, "id");
            if self.done.contains(&id) {
                continue;
            }
            if is_wanted(&self.events, &field(item, "event_type")) {
                self.one(item, &id).await?;
            }
            self.done.insert(id);
        }
        let newest = there.iter().map(|item| field(item, "received_at")).max();
        self.from = next_from(self.from.take(), newest.as_deref(), held_since.as_deref());
        // The server no longer returns deliveries older than `from`, so their IDs are dropped.
        let listed: HashSet<String> = there.iter().map(|item| field(item, "id")).collect();
        self.done.retain(|id| listed.contains(id));
        Ok(())
    }

    /// Returns the accepted deliveries since `from`, newest first, and the arrival time of the oldest one that
    /// is still held.
    async fn look(&self) -> Result<(Vec<Value>, Option<String>), ClientError> {
        let mut params = json!({ "id": self.webhook, "limit": PAGE, "statuses": ACCEPTED });
        let (mut all, mut held_since) = (Vec::new(), None);
        let put = |name: &str, value: &str, params: &mut Value| {
            if let Some(params) = params.as_object_mut() {
                params.insert(name.to_owned(), json!(value));
            }
        };
        if let Some(from) = &self.from {
            put("from", from, &mut params);
        }
        loop {
            let page = self
                .client
                .rpc("webhooks.deliveries", params.clone())
                .await?;
            all.extend(items(&page).iter().cloned());
            // Only the value of the first page counts. A delivery that is released afterwards appears in this list or
            // in the next one.
            held_since = held_since.or_else(|| page.get("held_since")?.as_str().map(str::to_owned));
            match page.get("next_cursor").and_then(Value::as_str) {
                Some(next) => put("cursor", next, &mut params),
                None => return Ok((all, held_since)),
            }
        }
    }
}
