//! Lists the messages in the inbox of a channel.

use crate::cli::{
    client::Client,
    output::{Output, field, line},
};
use anyhow::Result;
use serde_json::{Value, json};

pub(super) async fn inbox(client: &Client, out: &Output, limit: u32) -> Result<()> {
    let page = client.rpc("inbox.list", json!({ "limit": limit })).await?;
    out.record(&page, || {
        let messages = page.get("messages").and_then(Value::as_array);
        let mut is_empty = true;
        for message in messages.into_iter().flatten() {
            is_empty = false;
            line(format!(
                "{}  {}",
                field(message, "at"),
                field(message, "source")
            ));
            let text = message.get("text").and_then(Value::as_str);
            for part in text.unwrap_or_default().lines() {
                line(format!("    {}", crate::cli::output::plain(part)));
            }
        }
        if is_empty {
            line("The inbox is empty.");
        }
    })
}
