//! Helpers for the tests of records and ingest.

use crate::worker::harness::Harness;
use bytes::Bytes;
use gatehouse_domain::{Actor, DeliveryId, ErrorCode, Problem, input};
use gatehouse_store::{DeliveryFilter, DeliveryRow};
use gatehouse_webhooks::{Ingested, Webhook, WebhookChanged, WebhookInput, WebhooksError};
use http::{HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::net::IpAddr;

pub fn sender(ip: &str) -> Actor {
    let ip: IpAddr = ip.parse().unwrap();
    Actor {
        name: "anonymous".to_owned(),
        client_ip: Some(ip),
        client: gatehouse_domain::ClientKey::of(ip),
    }
}

pub fn headers(list: &[(&str, &str)]) -> HeaderMap {
    let pair = |(name, value): &(&str, &str)| {
        let name: HeaderName = name.parse().unwrap();
        (name, HeaderValue::from_str(value).unwrap())
    };
    list.iter().map(pair).collect()
}

pub fn input(members: Value) -> WebhookInput {
    input::from_value(members).unwrap()
}

pub async fn create(harness: &Harness, members: Value) -> WebhookChanged {
    let created = harness.webhooks.create(&Actor::cli(), input(members)).await;
    created.unwrap()
}

/// Returns the settings of a webhook with this profile.
pub fn of_profile(profile: &str) -> Value {
    let mut members = json!({ "name": "n", "source_profile": profile });
    if profile == gatehouse_sources::profile::SCHEDULE {
        members["schedule"] = json!({ "every_seconds": 3600 });
    }
    members
}

pub async fn update(
    harness: &Harness,
    id: &str,
    members: Value,
) -> Result<WebhookChanged, WebhooksError> {
    let webhooks = &harness.webhooks;
    webhooks.update(&Actor::cli(), id, input(members)).await
}

pub fn as_json(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

/// Creates a webhook without verification, with additional settings.
pub async fn open_webhook(harness: &Harness, more: Value) -> Webhook {
    let mut members = json!({ "name": "n", "auth_mode": "none" });
    members
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    create(harness, members).await.webhook
}

/// Returns the error code and the field with which creation is refused.
pub async fn refused(harness: &Harness, members: Value) -> (ErrorCode, String) {
    let problem = match input::from_value::<WebhookInput>(members) {
        Ok(input) => match harness.webhooks.create(&Actor::cli(), input).await {
            Ok(made) => panic!("{made:?}"),
            Err(error) => Problem::from(error),
        },
        Err(problem) => problem,
    };
    let field = problem.details.get("field").and_then(Value::as_str);
    (problem.code, field.unwrap_or_default().to_owned())
}

pub fn secret_of(changed: &WebhookChanged) -> String {
    changed.secret.as_ref().unwrap().expose_secret().to_owned()
}

/// Posts a request in the form in which `web` passes it.
pub async fn post_from(
    harness: &Harness,
    ip: &str,
    public_id: &str,
    list: &[(&str, &str)],
    body: &[u8],
) -> Result<Ingested, Problem> {
    let headers = headers(list);
    let intake = harness
        .webhooks
        .begin_ingest(public_id, &sender(ip), &headers)
        .await?;
    let url = format!("https://gate.example/api/webhooks/ingest/{public_id}");
    let body = Bytes::copy_from_slice(body);
    Ok(intake.accept(&headers, &url, &body).await?)
}

pub async fn post(
    harness: &Harness,
    webhook: &Webhook,
    list: &[(&str, &str)],
    body: &str,
) -> Result<Ingested, Problem> {
    post_from(
        harness,
        "192.0.2.1",
        &webhook.public_id,
        list,
        body.as_bytes(),
    )
    .await
}

pub fn accepted(outcome: Result<Ingested, Problem>) -> DeliveryId {
    match outcome {
        Ok(Ingested::Accepted(id)) => id,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
pub fn code(outcome: Result<Ingested, Problem>) -> ErrorCode {
    match outcome {
        Err(problem) => problem.code,
        Ok(taken) => panic!("{taken:?}"),
    }
}

/// Returns all stored deliveries, newest first.
pub async fn rows(harness: &Harness) -> Vec<DeliveryRow> {
    let read = harness.store.read(|conn| {
        Box::pin(async move { conn.list_deliveries(&DeliveryFilter::default(), 500).await })
    });
    read.await.unwrap().rows
}

/// Waits until this many deliveries are stored. Refusals are recorded after the response.
pub async fn until_rows(harness: &Harness, count: usize) -> Vec<DeliveryRow> {
    let mut changes = harness.webhooks.subscribe(|| true);
    loop {
        let rows = rows(harness).await;
        if rows.len() >= count {
            assert_eq!(rows.len(), count, "{rows:?}");
            return rows;
        }
        // Each stored row is published. The timeout covers rows that were stored before the subscription.
        let more = tokio::time::timeout(std::time::Duration::from_millis(200), changes.recv());
        drop(more.await);
    }
}
