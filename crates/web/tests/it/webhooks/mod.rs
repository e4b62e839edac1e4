//! Webhooks over HTTP and RPC.

mod attacks;
mod ingest;
mod json_bodies;
mod limits;
mod methods;
mod notices;
mod payload_filter;
mod schedules;
mod sealed;

use gatehouse_testkit::{Actor, Reply};
use serde_json::{Value, json};

/// A created webhook.
pub struct CreatedWebhook {
    pub record: Value,
}

impl CreatedWebhook {
    pub fn id(&self) -> &str {
        self.record["id"].as_str().unwrap()
    }

    pub fn path(&self) -> String {
        let public_id = self.record["public_id"].as_str().unwrap();
        format!("/api/webhooks/ingest/{public_id}")
    }

    pub fn secret(&self) -> &str {
        self.record["secret"].as_str().unwrap()
    }
}

/// Creates a webhook that delivers to the inbox, with additional members.
pub async fn made(owner: &Actor, more: Value) -> CreatedWebhook {
    let mut members = json!({ "name": "n", "deliver_only": true, "deliver_to": "inbox" });
    members
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let record = owner.rpc("webhooks.create", members).await.unwrap();
    CreatedWebhook { record }
}

/// Sends a request with these headers and this body.
pub async fn send(
    sender: &Actor,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Vec<u8>>,
) -> Reply {
    let sender = headers
        .iter()
        .fold(sender.clone(), |sender, (name, value)| {
            sender.with(name, value)
        });
    sender.send_bytes("POST", path, None, body).await
}

/// Returns the deliveries of a webhook, newest first.
pub async fn deliveries(owner: &Actor, made: &CreatedWebhook) -> Vec<Value> {
    let listed = owner
        .rpc("webhooks.deliveries", json!({ "id": made.id() }))
        .await
        .unwrap();
    listed["deliveries"].as_array().unwrap().clone()
}

/// Waits for this number of deliveries, because refusals are stored after the response.
pub async fn until(owner: &Actor, made: &CreatedWebhook, count: usize) -> Vec<Value> {
    let wait = async {
        loop {
            let found = deliveries(owner, made).await;
            if found.len() >= count {
                return found;
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), wait)
        .await
        .unwrap()
}
