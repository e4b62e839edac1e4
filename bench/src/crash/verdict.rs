//! Compares the gateway's rows with the records of the external services.

use super::Accepted;
use super::lane::Lane;
use crate::gateway::Server;
use crate::owner::{Installation, text};
use crate::table::Report;
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The relevant columns of a delivery.
struct Row {
    status: String,
    attempts: u64,
}

/// Counts the outcomes and reports them.
pub async fn tell(
    installation: &Installation,
    server: &Server,
    lanes: &[Lane],
    accepted: &[Accepted],
    report: &mut Report,
) -> Result<()> {
    for lane in lanes {
        let rows = rows(installation, server, lane).await?;
        let mine: Vec<&str> = accepted
            .iter()
            .filter(|one| one.lane == lane.name)
            .map(|one| one.mark.as_str())
            .collect();
        let (mut lost, mut undone, mut silent, mut repeated) = (0, 0, 0, 0);
        for mark in &mine {
            let came = lane.recorder.count(mark);
            let Some(row) = rows.get(*mark) else {
                lost += 1;
                continue;
            };
            undone += u32::from(row.status != "completed" || came == 0);
            repeated += u32::from(came > 1);
            silent += u32::from(came > 1 && row.attempts < u64::from(came));
        }
        let name = lane.name;
        let zero = |report: &mut Report, what: &str, count: u32| {
            report.fact(format!("{name}: {what}"), "0", count == 0, count);
        };
        report.fact(
            format!("{name}: answered 202"),
            "",
            !mine.is_empty(),
            mine.len(),
        );
        zero(report, "answered 202 and lost", lost);
        zero(report, "stored and never done", undone);
        zero(report, "done twice without a record", silent);
        report.fact(
            format!("{name}: done twice, attempts counted"),
            "",
            true,
            repeated,
        );
    }
    let left = count(installation, server, "processing").await?;
    report.fact("left in processing", "0", left == 0, left);
    let failed = count(installation, server, "failed").await?;
    report.fact("failed", "0", failed == 0, failed);
    Ok(())
}

/// The maximum number of messages in the inbox. With more messages, this run cannot determine which are missing.
const INBOX_KEEPS: usize = 10_000;

/// Reads the whole inbox and counts each message.
pub async fn read_inbox(installation: &Installation, server: &Server, lane: &Lane) -> Result<()> {
    let mut params = json!({ "limit": 500 });
    loop {
        let page = installation.rpc(server, "inbox.list", params).await?;
        let messages = page.get("messages").and_then(Value::as_array);
        for message in messages.into_iter().flatten() {
            lane.recorder.note(&text(message, "text")?);
        }
        match page.get("next_cursor") {
            Some(Value::String(next)) => params = json!({ "limit": 500, "cursor": next }),
            _ => return Ok(()),
        }
    }
}

/// Reports the messages in the inbox. An inbox message and the completion of its delivery are one transaction, so
/// no message may appear twice.
pub fn tell_inbox(lanes: &[Lane], accepted: &[Accepted], report: &mut Report) {
    for lane in lanes.iter().filter(|lane| lane.name == super::INBOX) {
        let mine = accepted.iter().filter(|one| one.lane == lane.name);
        let all = mine.clone().count();
        report.fact(
            "inbox: messages that it must still have",
            &format!("≤ {INBOX_KEEPS}"),
            all <= INBOX_KEEPS,
            all,
        );
        let twice = mine
            .filter(|one| lane.recorder.count(&one.mark) > 1)
            .count();
        report.fact("inbox: heard twice", "0", twice == 0, twice);
    }
}

/// Returns all accepted deliveries of a webhook by the ID that the sender assigned.
async fn rows(
    installation: &Installation,
    server: &Server,
    lane: &Lane,
) -> Result<HashMap<String, Row>> {
    let mut rows = HashMap::new();
    let mut cursor = Value::Null;
    loop {
        let mut params = json!({ "id": lane.id, "limit": 500 });
        if let (Some(params), Value::String(_)) = (params.as_object_mut(), &cursor) {
            params.insert("cursor".to_owned(), cursor.take());
        }
        let mut page = installation
            .rpc(server, "webhooks.deliveries", params)
            .await?;
        for item in page
            .get("deliveries")
            .and_then(Value::as_array)
            .unwrap_or(&Vec::new())
        {
            if text(item, "status")? == "deduplicated" {
                continue;
            }
            let row = Row {
                status: text(item, "status")?,
                attempts: item.get("attempts").and_then(Value::as_u64).unwrap_or(0),
            };
            rows.insert(text(item, "delivery_key")?, row);
        }
        match page.get_mut("next_cursor").map(Value::take) {
            Some(Value::String(next)) => cursor = Value::String(next),
            _ => return Ok(rows),
        }
    }
}

/// Returns the number of deliveries with this status, up to the size of one page.
pub async fn count(installation: &Installation, server: &Server, status: &str) -> Result<usize> {
    let params = json!({ "status": status, "limit": 500 });
    let page = installation
        .rpc(server, "webhooks.deliveries", params)
        .await?;
    Ok(page
        .get("deliveries")
        .and_then(Value::as_array)
        .map_or(0, Vec::len))
}
