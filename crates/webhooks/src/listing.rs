//! Looking at deliveries: lists, one of them, its payload, and counts by the hour.

use crate::delivery::Delivery;
use crate::error::WebhooksError;
use crate::handle::Webhooks;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use gatehouse_domain::{DeliveryStatus, Timestamp, WebhookId};
use gatehouse_store::DeliveryFilter;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The longest text to search for.
const MAX_QUERY: usize = 200;
/// The longest period of counts, in hours: 30 days.
pub const MAX_HOURS: i64 = 720;
/// The period of counts unless the caller says otherwise.
const DEFAULT_HOURS: i64 = 24;
const HOUR_MS: i64 = 3_600_000;

/// Which deliveries to list.
#[derive(Debug, Default)]
pub struct DeliveryQuery {
    /// Only of this webhook, by either of its ids.
    pub webhook: Option<String>,
    /// Only with this status.
    pub status: Option<DeliveryStatus>,
    /// Only of this event type.
    pub event: Option<String>,
    /// Only where the event type, the entity, the error or the preview contains this text.
    pub text: Option<String>,
    /// How many at most.
    pub limit: usize,
    /// Where the page begins.
    pub cursor: Option<String>,
}

/// A page of deliveries, the newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeliveryPage {
    /// The deliveries.
    pub deliveries: Vec<Delivery>,
    /// Where the next page begins; absent on the last. A search looks through so many deliveries for
    /// a page; one without deliveries but with a cursor says that there are more to look through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What a sender sent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StoredPayload {
    /// As JSON: key order and the spelling of numbers as they were sent.
    Payload(#[schemars(with = "serde_json::Value")] Box<RawValue>),
    /// As Base64, when it is not JSON.
    Raw(String),
}

/// The deliveries of an hour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Bucket {
    /// When the hour began.
    pub at: Timestamp,
    /// How many came in it, by the status that they have now.
    #[serde(flatten)]
    pub counts: BTreeMap<DeliveryStatus, i64>,
}

/// Counts of deliveries by the hour, the oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeliveryStats {
    /// One for each hour, also where nothing came.
    pub buckets: Vec<Bucket>,
}

impl Webhooks {
    /// A page of deliveries, the newest first.
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
            let reason = "not one that was given out";
            return Err(WebhooksError::invalid("cursor", reason));
        }
        let filter = DeliveryFilter {
            webhook: self.webhook_of(query.webhook.as_deref()).await?,
            status: query.status,
            event: query.event,
            text: query.text.filter(|text| !text.is_empty()),
            before: query.cursor,
        };
        let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
        let read = self
            .0
            .store
            .read(move |conn| Box::pin(async move { conn.list_deliveries(&filter, limit).await }));
        let page = read.await?;
        Ok(DeliveryPage {
            deliveries: self.0.shown_deliveries(page.rows).await,
            next_cursor: page.next,
        })
    }

    /// One delivery.
    pub async fn delivery(&self, id: &str) -> Result<Delivery, WebhooksError> {
        let id = id.to_owned();
        let read = self
            .0
            .store
            .read(move |conn| Box::pin(async move { conn.find_delivery(&id).await }));
        let row = read.await?.ok_or(WebhooksError::NotFound("delivery"))?;
        let shown = self.0.shown_deliveries(vec![row]).await.pop();
        shown.ok_or(WebhooksError::NotFound("delivery"))
    }

    /// What was sent. `NotFound` also for a delivery that keeps none.
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

    /// Counts of the last hours, of one webhook or of all.
    pub async fn stats(
        &self,
        webhook: Option<&str>,
        hours: Option<i64>,
    ) -> Result<DeliveryStats, WebhooksError> {
        let hours = hours.unwrap_or(DEFAULT_HOURS);
        if !(1..=MAX_HOURS).contains(&hours) {
            let reason = format!("expected 1 to {MAX_HOURS}");
            return Err(WebhooksError::invalid("hours", reason));
        }
        let webhook = self.webhook_of(webhook).await?;
        let this_hour = self.0.now().as_millis().div_euclid(HOUR_MS);
        let first = this_hour.saturating_sub(hours - 1);
        let since = Timestamp::from_millis(first.saturating_mul(HOUR_MS));
        let read = self.0.store.read(move |conn| {
            Box::pin(async move { conn.list_delivery_counts(webhook.as_ref(), since).await })
        });
        let mut found: BTreeMap<Timestamp, BTreeMap<DeliveryStatus, i64>> = BTreeMap::new();
        for count in read.await? {
            found
                .entry(count.hour)
                .or_default()
                .insert(count.status, count.count);
        }
        let bucket = |hour: i64| {
            let at = Timestamp::from_millis(hour.saturating_mul(HOUR_MS));
            let its = found.get(&at);
            let count = |status: &DeliveryStatus| {
                let counted = its.and_then(|counts| counts.get(status));
                (*status, counted.copied().unwrap_or(0))
            };
            Bucket {
                at,
                counts: DeliveryStatus::ALL.iter().map(count).collect(),
            }
        };
        Ok(DeliveryStats {
            buckets: (first..=this_hour).map(bucket).collect(),
        })
    }

    /// The id of the webhook that a caller names.
    async fn webhook_of(&self, name: Option<&str>) -> Result<Option<WebhookId>, WebhooksError> {
        match name {
            Some(name) => self.0.id_of(name).await.map(Some),
            None => Ok(None),
        }
    }
}

/// Whether a text can be the id that a page was ended with.
pub(crate) fn is_cursor(prefix: &str, text: &str) -> bool {
    text.strip_prefix(prefix)
        .is_some_and(|rest| rest.len() == 32 && rest.bytes().all(|b| b.is_ascii_hexdigit()))
}
