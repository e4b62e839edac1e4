//! Sends one delivery to the local program and shows the answer.

use super::{
    Forwarder,
    local::{Outcome, Sent},
};
use crate::cli::{
    client::ClientError,
    output::{field, line, warn},
};
use anyhow::Result;
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// The wait before the next attempt to reach the program on this machine.
const AGAIN: Duration = Duration::from_secs(1);

impl Forwarder<'_> {
    /// Forwards one delivery. Waits while there is no connection, because the delivery has not reached a program.
    pub(super) async fn one(&mut self, item: &Value, id: &str) -> Result<(), ClientError> {
        let request = match self
            .client
            .rpc("webhooks.delivery.request", json!({ "id": id }))
            .await
        {
            Err(ClientError::Refused(refusal)) if refusal.code == "NOT_FOUND" => {
                self.show(item, "", &Sent::failed("its payload is no longer stored"));
                return Ok(());
            }
            answer => answer?,
        };
        if request.get("is_kept") == Some(&json!(false)) {
            self.keep_again = Instant::now();
        }
        let mut has_warned = false;
        let sent = loop {
            match self.local.send(&request).await {
                Outcome::Sent(sent) => break sent,
                Outcome::NotReached(why) => {
                    if !has_warned {
                        warn(format!("{why}; {id} waits until this changes"));
                    }
                    has_warned = true;
                    tokio::time::sleep(AGAIN).await;
                    if Instant::now() >= self.keep_again {
                        self.keep().await?;
                    }
                }
            }
        };
        self.count += u64::from(sent.status.is_some());
        self.show(item, &field(&request, "origin"), &sent);
        Ok(())
    }

    fn show(&self, item: &Value, origin: &str, sent: &Sent) {
        let shown = ["received_at", "event_type", "id"].map(|name| (name, field(item, name)));
        let record: Map<String, Value> = shown
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .chain([
                ("origin".to_owned(), json!(origin)),
                ("status".to_owned(), json!(sent.status)),
                ("duration_ms".to_owned(), json!(sent.duration_ms)),
                ("error".to_owned(), json!(sent.error)),
            ])
            .collect();
        let [(_, at), (_, event), (_, id)] = &shown;
        // Writing to a closed pipe is not an error.
        drop(self.out.json_line(&record, || {
            let event = if event.is_empty() { "-" } else { event };
            let status = sent.status.map_or("-".to_owned(), |code| code.to_string());
            let mut text = format!("{at}  {event}  {id}  {status}  {} ms", sent.duration_ms);
            match origin {
                "signed" => text.push_str("  (signed again)"),
                "unsigned" => text.push_str("  (without the sender's signature)"),
                _ => {}
            }
            if let Some(error) = &sent.error {
                text.push_str("  ");
                text.push_str(error);
            }
            line(text);
        }));
    }
}
