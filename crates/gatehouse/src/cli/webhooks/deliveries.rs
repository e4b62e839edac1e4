//! Commands for deliveries.

use super::{items, show};
use crate::cli::client::Client;
use crate::cli::output::{Output, field, line, rows};
use anyhow::Result;
use serde_json::{Value, json};

pub(super) async fn cancel(client: &Client, out: &Output, id: &str) -> Result<()> {
    let params = json!({ "id": id });
    let ended = client.rpc("webhooks.delivery.cancel", params).await?;
    out.record(&ended, || line(format!("Canceled {id}.")))
}

pub(super) async fn retry(client: &Client, out: &Output, id: &str) -> Result<()> {
    let params = json!({ "id": id });
    let waiting = client.rpc("webhooks.delivery.retry", params).await?;
    out.record(&waiting, || line(format!("{id} is being attempted now.")))
}

pub(super) async fn release(client: &Client, out: &Output) -> Result<()> {
    let done = client.rpc("webhooks.deliveries.release", json!({})).await?;
    out.record(&done, || {
        line(format!("Released {} deliveries.", field(&done, "released")));
    })
}

pub(super) async fn deliveries(
    client: &Client,
    out: &Output,
    mut params: Value,
    limit: u32,
) -> Result<()> {
    let limit = usize::try_from(limit)?;
    let mut page = client.rpc("webhooks.deliveries", params.clone()).await?;
    // A page takes a limited time, so a page with fewer deliveries may not be the last.
    while items(&page).len() < limit
        && let Some(cursor) = page.get("next_cursor").cloned()
    {
        if let Some(params) = params.as_object_mut() {
            params.insert("cursor".to_owned(), cursor);
            params.insert("limit".to_owned(), json!(limit - items(&page).len()));
        }
        let next = client.rpc("webhooks.deliveries", params.clone()).await?;
        if let Some(page) = page.as_object_mut() {
            match next.get("next_cursor") {
                Some(cursor) => page.insert("next_cursor".to_owned(), cursor.clone()),
                None => page.remove("next_cursor"),
            };
        }
        let all = page.get_mut("deliveries").and_then(Value::as_array_mut);
        if let Some(all) = all {
            all.extend_from_slice(items(&next));
        }
    }
    let fields = [
        "id",
        "received_at",
        "status",
        "event_type",
        "attempts",
        "duration_ms",
        "error",
    ];
    let rows = rows(&page, "deliveries", &fields);
    out.table(&page, &fields, rows, "No deliveries.")
}

pub(super) async fn show_delivery(
    client: &Client,
    out: &Output,
    id: &str,
    payload: bool,
) -> Result<()> {
    let params = json!({ "id": id });
    if !payload {
        let record = client.rpc("webhooks.delivery.get", params).await?;
        return out.record(&record, || show(&record));
    }
    let answer = client.rpc("webhooks.delivery.payload", params).await?;
    match answer.get("payload") {
        Some(payload) => line(serde_json::to_string_pretty(payload)?),
        None => line(field(&answer, "raw")),
    }
    Ok(())
}
