//! `webhooks tail`: shows deliveries as they arrive. It polls instead of listening, so it works through TLS and proxies
//! and survives a server restart.

use super::items;
use crate::cli::client::Client;
use crate::cli::output::{Output, field, next_line, warn};
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;

const EVERY: Duration = Duration::from_millis(500);
/// The number of deliveries per poll. A server of the intended size receives fewer between two
/// polls.
const NEWEST: usize = 200;

/// The last reported status of each delivery.
#[derive(Default)]
struct ReportedStatuses(HashMap<String, String>);

impl ReportedStatuses {
    /// Returns new deliveries and those with a changed status, oldest first.
    fn news<'a>(&mut self, page: &'a [Value]) -> Vec<&'a Value> {
        let mut seen = HashMap::with_capacity(page.len());
        let mut news = Vec::new();
        for item in page.iter().rev() {
            let (id, status) = (field(item, "id"), field(item, "status"));
            if self.0.get(&id) != Some(&status) {
                news.push(item);
            }
            seen.insert(id, status);
        }
        self.0 = seen;
        news
    }
}

/// Runs until interrupted, or until the reader of the output closes it.
pub async fn run(client: &Client, out: &Output, webhook: Option<&str>) -> Result<()> {
    let mut params = json!({ "limit": NEWEST });
    if let (Some(params), Some(id)) = (params.as_object_mut(), webhook) {
        params.insert("id".to_owned(), json!(id));
    }
    let mut reported = ReportedStatuses::default();
    // Older deliveries are skipped, except those that are still open.
    let mut page = client.rpc("webhooks.deliveries", params.clone()).await?;
    let open = |item: &&Value| matches!(field(item, "status").as_str(), "queued" | "processing");
    reported.news(items(&page));
    for item in items(&page).iter().rev().filter(open) {
        show(out, item)?;
    }
    let mut is_away = false;
    loop {
        tokio::time::sleep(EVERY).await;
        match client.rpc("webhooks.deliveries", params.clone()).await {
            Ok(answer) => {
                is_away = false;
                page = answer;
            }
            Err(error) => {
                let Some(why) = error.outage() else {
                    return Err(error.into());
                };
                if !is_away {
                    warn(format!("{why}; waiting for it"));
                }
                is_away = true;
                continue;
            }
        }
        for item in reported.news(items(&page)) {
            show(out, item)?;
        }
    }
}

fn show(out: &Output, item: &Value) -> Result<()> {
    if out.is_json() {
        return next_line(serde_json::to_string(item)?);
    }
    let event = field(item, "event_type");
    let event = if event.is_empty() { "-" } else { &event };
    let mut text = format!(
        "{}  {:<12}  {}  {event}",
        field(item, "received_at"),
        field(item, "status"),
        field(item, "id"),
    );
    for (name, unit) in [("duration_ms", " ms"), ("error", "")] {
        let value = field(item, name);
        if !value.is_empty() {
            text.push_str("  ");
            text.push_str(&value);
            text.push_str(unit);
        }
    }
    next_line(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_what_is_new_or_has_moved() {
        let item = |id: &str, status: &str| json!({ "id": id, "status": status });
        let mut reported = ReportedStatuses::default();
        let first = [item("b", "queued"), item("a", "completed")];
        let ids = |news: Vec<&Value>| -> Vec<String> {
            news.iter().map(|item| field(item, "id")).collect()
        };
        assert_eq!(ids(reported.news(&first)), ["a", "b"]);
        assert!(reported.news(&first).is_empty());
        let second = [
            item("c", "queued"),
            item("b", "processing"),
            item("a", "completed"),
        ];
        assert_eq!(ids(reported.news(&second)), ["b", "c"]);
    }
}
