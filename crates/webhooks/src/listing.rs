//! Queries for deliveries: lists, single deliveries and payloads.

use crate::delivery::{Delivery, FailedAttempt};
use crate::delivery_ids::time_of;
use crate::error::WebhooksError;
use crate::handle::Webhooks;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use gatehouse_domain::{DeliveryStatus, Timestamp, WebhookId};
use gatehouse_store::DeliveryFilter;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

/// Maximum length of a search text, in characters.
const MAX_QUERY: usize = 200;

/// Filter and page of a delivery list.
#[derive(Debug, Default)]
pub struct DeliveryQuery {
    /// The webhook, by ID or public ID.
    pub webhook: Option<String>,
    /// Any status if empty.
    pub statuses: Vec<DeliveryStatus>,
    pub event: Option<String>,
    /// Text to find in the event type, entity, summary, outcome, error or body preview.
    pub text: Option<String>,
    /// Earliest time of receipt, inclusive.
    pub from: Option<Timestamp>,
    /// Latest time of receipt, exclusive.
    pub until: Option<Timestamp>,
    /// Only deliveries that a restored backup holds.
    pub to_release: bool,
    pub limit: usize,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A page of deliveries, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeliveryPage {
    pub deliveries: Vec<Delivery>,
    /// Cursor of the next page. Absent on the last page. A page takes a limited time, so it can be shorter than
    /// requested, or empty, and still have a cursor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// When the oldest held delivery arrived. Held deliveries are not in the list until the vault is unlocked. Only on
    /// the first page, for one webhook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_since: Option<Timestamp>,
    /// How many deliveries of a restored backup wait for `webhooks.deliveries.release`. Those that arrived while the
    /// vault was sealed count, but are not in the list. Only on the first page, with `to_release`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_release: Option<i64>,
}

/// The stored payload of a delivery.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StoredPayload {
    /// The payload as JSON, with key order and number spelling unchanged.
    Payload(#[schemars(with = "serde_json::Value")] Box<RawValue>),
    /// The payload in Base64, if it is not JSON.
    Raw(String),
}

impl Webhooks {
    /// Lists deliveries, newest first.
    pub async fn deliveries(&self, query: DeliveryQuery) -> Result<DeliveryPage, WebhooksError> {
        let too_long = |text: &Option<String>| {
            text.as_ref()
                .is_some_and(|text| text.chars().count() > MAX_QUERY || text.contains('\0'))
        };
        if too_long(&query.text) {
            let reason = format!("at most {MAX_QUERY} characters");
            return Err(WebhooksError::invalid("q", reason));
        }
        if too_long(&query.event) {
            let reason = format!("at most {MAX_QUERY} characters");
            return Err(WebhooksError::invalid("event", reason));
        }
        if query
            .cursor
            .as_deref()
            .is_some_and(|cursor| !is_cursor("del_", cursor))
        {
            let reason = "not a cursor of this list";
            return Err(WebhooksError::invalid("cursor", reason));
        }
        let filter = DeliveryFilter {
            webhook: self.webhook_of(query.webhook.as_deref()).await?,
            statuses: query.statuses,
            event: query.event,
            text: query.text.filter(|text| !text.is_empty()),
            before: query.cursor,
            from: query.from,
            until: query.until,
            to_release: query.to_release,
        };
        let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                // Read before the list, so that a delivery that is released between the two reads is in at least
                // one of them.
                let held = match &filter.webhook {
                    Some(webhook) if filter.before.is_none() => {
                        conn.find_first_held_of(webhook).await?
                    }
                    _ => None,
                };
                let to_release = if filter.to_release && filter.before.is_none() {
                    Some(conn.count_deliveries_to_release().await?)
                } else {
                    None
                };
                let page = conn.list_deliveries(&filter, limit).await?;
                Ok::<_, WebhooksError>((held, to_release, page))
            })
        });
        let (held, to_release, page) = read.await?;
        Ok(DeliveryPage {
            deliveries: self.0.shown_deliveries(page.rows).await,
            next_cursor: page.next,
            held_since: held.as_ref().and_then(time_of),
            to_release,
        })
    }

    pub async fn delivery(&self, id: &str) -> Result<Delivery, WebhooksError> {
        let id = id.to_owned();
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                let attempts = conn.list_delivery_attempts(&id).await?;
                let row = conn.find_delivery_to_show(&id).await?;
                let response = conn.find_delivery_response(&id).await?;
                Ok::<_, WebhooksError>((row, attempts, response.unwrap_or_default()))
            })
        });
        let (row, attempts, response) = read.await?;
        let row = row.ok_or(WebhooksError::NotFound("delivery"))?;
        let shown = self.0.shown_deliveries(vec![row]).await.pop();
        let mut delivery = shown.ok_or(WebhooksError::NotFound("delivery"))?;
        (delivery.status_code, delivery.answer) = (response.status_code, response.answer);
        delivery.failed_attempts = attempts.into_iter().map(FailedAttempt::from).collect();
        Ok(delivery)
    }

    /// Returns the payload of a delivery. Fails with `NotFound` if the delivery or its payload is not
    /// stored.
    pub async fn payload(&self, id: &str) -> Result<StoredPayload, WebhooksError> {
        let id = id.to_owned();
        let read = self
            .0
            .store
            .read(move |conn| Box::pin(async move { conn.find_delivery_payload(&id).await }));
        let text = read.await?.ok_or(WebhooksError::NotFound("payload"))?;
        Ok(match RawValue::from_string(text.clone()) {
            Ok(json) => StoredPayload::Payload(json),
            Err(_) => StoredPayload::Raw(BASE64.encode(text)),
        })
    }

    pub(crate) async fn webhook_of(
        &self,
        name: Option<&str>,
    ) -> Result<Option<WebhookId>, WebhooksError> {
        match name {
            Some(name) => self.0.id_of(name).await.map(Some),
            None => Ok(None),
        }
    }
}

/// Returns whether `text` has the form of a page cursor.
pub(crate) fn is_cursor(prefix: &str, text: &str) -> bool {
    text.strip_prefix(prefix)
        .is_some_and(|rest| rest.len() == 32 && rest.bytes().all(|b| b.is_ascii_hexdigit()))
}
