//! `webhooks replay`: runs one delivery again, optionally with changes, or runs several deliveries
//! again.

use super::given;
use crate::cli::client::Client;
use crate::cli::output::{Output, field, line};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Changes for a replay.
#[derive(Debug, clap::Args)]
pub struct ReplayEdit {
    /// A file with JSON that replaces the payload
    #[arg(long, value_name = "FILE", requires = "id")]
    payload_file: Option<PathBuf>,
    /// The agent that handles it in place of the webhook's target
    #[arg(long, value_name = "ID", requires = "id")]
    agent: Option<String>,
    /// The channel for the agent's answer or, without --agent, for the payload, as type or type:account
    #[arg(long, value_name = "TARGET", requires = "id")]
    deliver_to: Option<String>,
}

/// Selects the deliveries to process again.
#[derive(Debug, clap::Args)]
pub struct ReplayMany {
    /// Replay at most this many deliveries, oldest first
    #[arg(long, value_name = "COUNT", conflicts_with = "id")]
    limit: Option<u32>,
    /// Only deliveries of this webhook
    #[arg(long, value_name = "ID", requires = "limit")]
    webhook: Option<String>,
    /// Only deliveries with this status
    #[arg(long, value_parser = ["completed", "failed"], requires = "limit")]
    status: Option<String>,
    /// Only deliveries of this event type; a trailing * matches every type with that prefix
    #[arg(long, value_name = "TYPE", requires = "limit")]
    event: Option<String>,
    /// Only deliveries received at or after this time, such as 2026-11-22T08:00:00Z
    #[arg(long, value_name = "TIME", requires = "limit")]
    since: Option<String>,
    /// Only deliveries received before this time
    #[arg(long, value_name = "TIME", requires = "limit")]
    until: Option<String>,
    /// Only count the deliveries
    #[arg(long, requires = "limit")]
    dry_run: bool,
}

pub(super) async fn replay_one(
    client: &Client,
    out: &Output,
    id: String,
    edit: ReplayEdit,
) -> Result<()> {
    let payload = match &edit.payload_file {
        Some(file) => {
            let text = tokio::fs::read_to_string(file).await;
            Some(text.with_context(|| format!("{} cannot be read", file.display()))?)
        }
        None => None,
    };
    let wanted = [
        ("id", Some(Value::from(id))),
        ("payload", payload.map(Value::from)),
        ("agent", edit.agent.map(Value::from)),
        ("deliver_to", edit.deliver_to.map(Value::from)),
    ];
    let made = client
        .rpc("webhooks.delivery.replay", given(wanted))
        .await?;
    out.record(&made, || {
        line(format!("Queued again as {}.", field(&made, "id")));
    })
}

pub(super) async fn replay_many(client: &Client, out: &Output, many: ReplayMany) -> Result<()> {
    let wanted = [
        ("id", many.webhook.map(Value::from)),
        ("status", many.status.map(Value::from)),
        ("event", many.event.map(Value::from)),
        ("since", many.since.map(Value::from)),
        ("until", many.until.map(Value::from)),
        ("limit", many.limit.map(Value::from)),
        ("dry_run", Some(json!(many.dry_run))),
    ];
    let done = client
        .rpc("webhooks.deliveries.replay", given(wanted))
        .await?;
    out.record(&done, || {
        let (matched, replayed) = (field(&done, "matched"), field(&done, "replayed"));
        line(format!("{matched} matched; {replayed} were queued again."));
    })
}
