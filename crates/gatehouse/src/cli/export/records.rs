//! Writes exported records, one per line.

use crate::cli::client::{Client, ClientError};
use anyhow::Result;
use indicatif::ProgressBar;
use serde_json::{Map, Value, json};
use std::io::Write;

/// Records per request, the maximum of the API.
const PAGE: u16 = 500;

/// The additional content of a record, which its list does not contain.
#[derive(Clone, Copy)]
pub(super) enum Addition {
    Payload,
    Messages,
}

pub(super) struct Records<'a, W> {
    pub(super) client: &'a Client,
    pub(super) bar: &'a ProgressBar,
    pub(super) to: W,
    pub(super) rows: u64,
}

impl<W: Write> Records<'_, W> {
    /// Writes all pages of a list, whose records are in the field `field`.
    pub(super) async fn write(
        &mut self,
        method: &str,
        field: &str,
        mut params: Map<String, Value>,
        addition: Option<Addition>,
    ) -> Result<()> {
        params.insert("limit".to_owned(), PAGE.into());
        loop {
            let mut page = self
                .client
                .rpc(method, Value::Object(params.clone()))
                .await?;
            for mut record in take_list(&mut page, field) {
                if let Some(addition) = addition {
                    self.add(&mut record, addition).await?;
                }
                serde_json::to_writer(&mut self.to, &record)?;
                self.to.write_all(b"\n")?;
                self.rows += 1;
                self.bar.set_message(format!("Exporting: {}", self.rows));
            }
            match page.get("next_cursor") {
                Some(next @ Value::String(_)) => {
                    params.insert("cursor".to_owned(), next.clone());
                }
                _ => return Ok(()),
            }
        }
    }

    /// Adds the additional content. A record that was deleted after its page was read is written
    /// without it.
    async fn add(&self, record: &mut Value, addition: Addition) -> Result<()> {
        let added = match self.addition(record, addition).await {
            Err(ClientError::Refused(refusal)) if refusal.code == "NOT_FOUND" => return Ok(()),
            added => added?,
        };
        if let (Value::Object(record), Value::Object(added)) = (record, added) {
            record.extend(added);
        }
        Ok(())
    }

    async fn addition(&self, record: &Value, addition: Addition) -> Result<Value, ClientError> {
        let id = record.get("id").cloned().unwrap_or_default();
        match addition {
            Addition::Payload => {
                let params = json!({ "id": id });
                self.client.rpc("webhooks.delivery.payload", params).await
            }
            Addition::Messages => Ok(json!({ "messages": self.messages(&id).await? })),
        }
    }

    /// Returns all messages of a conversation, oldest first.
    async fn messages(&self, session: &Value) -> Result<Vec<Value>, ClientError> {
        let mut pages: Vec<Vec<Value>> = Vec::new();
        let mut before = Value::Null;
        loop {
            let params = json!({ "session": session, "limit": PAGE, "before": before });
            let mut page = self.client.rpc("chat.history", params).await?;
            pages.push(take_list(&mut page, "messages"));
            before = page.get("next_cursor").cloned().unwrap_or_default();
            if before.is_null() {
                return Ok(pages.into_iter().rev().flatten().collect());
            }
        }
    }
}

fn take_list(page: &mut Value, field: &str) -> Vec<Value> {
    match page.get_mut(field).map(Value::take) {
        Some(Value::Array(records)) => records,
        _ => Vec::new(),
    }
}
