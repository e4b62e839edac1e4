//! Vendor payloads with hostile text in every field that an outsider can fill.

use crate::requests::{create, headers, sender};
use crate::worker::harness::{Harness, START, settings};
use bytes::Bytes;
use gatehouse_domain::{DeliveryId, DeliveryStatus};
use gatehouse_sources::AuthMode;
use gatehouse_sources::profile::{self, Profile};
use gatehouse_sources::sample::{SampleRequest, sample};
use gatehouse_sources::verify::{SignInput, sign};
use gatehouse_webhooks::{Delivery, Ingested, Webhook, WebhooksSettings};
use http::HeaderValue;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    PullRequest,
    Push,
    Generic,
}

pub const SHAPES: [Shape; 3] = [Shape::PullRequest, Shape::Push, Shape::Generic];

/// A webhook and the key that its sender signs with.
pub struct Target {
    pub webhook: Webhook,
    profile: &'static Profile,
    mode: AuthMode,
    secret: String,
}

impl Target {
    /// Creates a webhook that verifies with its profile's vendor scheme. Generic ones use Standard
    /// Webhooks.
    pub async fn create(harness: &Harness, profile: &str, extra: Value) -> Self {
        let auth = match profile {
            "generic" => AuthMode::STANDARD_WEBHOOKS,
            _ => "github_hmac_sha256".parse().unwrap(),
        };
        let mut members = json!({
            "name": profile, "source_profile": profile, "auth_mode": auth.as_str(),
            "rate_limit_per_minute": 1_000_000, "session_mode": "per_delivery",
        });
        let extra = extra.as_object().unwrap().clone();
        members.as_object_mut().unwrap().extend(extra);
        let made = create(harness, members).await;
        Self {
            secret: made.secret.as_ref().unwrap().expose_secret().to_owned(),
            webhook: made.webhook,
            profile: profile::find(profile).unwrap(),
            mode: auth,
        }
    }

    /// Sends a delivery and returns its ID.
    pub async fn send(
        &self,
        harness: &Harness,
        shape: Shape,
        number: usize,
        text: &str,
    ) -> DeliveryId {
        let delivery = format!("guid-{number}");
        let body = body(self.profile, shape, number, text).to_string();
        let public_id = &self.webhook.public_id;
        let url = format!("https://gate.example/api/webhooks/ingest/{public_id}");
        let mut all = headers(&[("content-type", "application/json")]);
        if shape == Shape::Generic {
            all.insert("x-delivery-id", delivery.parse().unwrap());
            if let Ok(event) = HeaderValue::from_bytes(text.as_bytes()) {
                all.insert("x-event-type", event);
            }
        } else {
            all.insert("x-github-delivery", delivery.parse().unwrap());
            let event = if shape == Shape::Push {
                "push"
            } else {
                "pull_request"
            };
            all.insert("x-github-event", HeaderValue::from_static(event));
        }
        all.extend(sign(&SignInput {
            mode: self.mode,
            header: None,
            secret: &self.secret,
            url: &url,
            body: body.as_bytes(),
            now_ms: START,
            id: &delivery,
        }));
        let from = sender("192.0.2.1");
        let intake = harness.webhooks.begin_ingest(public_id, &from, &all).await;
        let taken = intake.unwrap().accept(&all, &url, &Bytes::from(body)).await;
        match taken {
            Ok(Ingested::Accepted(id)) => id,
            other => panic!("{text:?}: {other:?}"),
        }
    }
}

fn body(profile: &Profile, shape: Shape, number: usize, text: &str) -> Value {
    let vendor = |event, places: &[&str]| {
        let request = SampleRequest {
            event: Some(event),
            event_header: None,
            id: "x",
            now_ms: START,
        };
        let mut body: Value = serde_json::from_slice(&sample(profile, &request).body).unwrap();
        for place in places {
            *body.pointer_mut(place).unwrap() = json!(text);
        }
        body
    };
    match shape {
        Shape::PullRequest => vendor(
            "pull_request.opened",
            &[
                "/pull_request/title",
                "/pull_request/body",
                "/pull_request/head/ref",
                "/pull_request/head/label",
                "/pull_request/user/login",
                "/pull_request/labels/0/name",
                "/sender/login",
            ],
        ),
        Shape::Push => {
            let mut body = vendor(
                "push",
                &[
                    "/commits/0/message",
                    "/commits/0/author/name",
                    "/commits/0/author/username",
                    "/head_commit/message",
                    "/head_commit/author/name",
                    "/pusher/name",
                    "/sender/login",
                ],
            );
            body["ref"] = json!(format!("refs/heads/{text}"));
            body
        }
        Shape::Generic => json!({
            "number": number, "title": text, "body": text, "branch": text,
            "author": { "name": text }, "commits": [{ "message": text, "author": text }],
            text: text,
        }),
    }
}

/// Returns settings that accept the whole corpus within one minute. The clock does not advance.
pub fn ample() -> WebhooksSettings {
    WebhooksSettings {
        section: gatehouse_config::Webhooks {
            global_rate_limit_per_minute: 1_000_000,
            send_workers: 16,
            ..gatehouse_config::Webhooks::default()
        },
        ..settings()
    }
}

/// Waits until all of these deliveries have ended.
pub async fn ended(harness: &Harness, ids: &[DeliveryId]) -> Vec<Delivery> {
    let mut changes = harness.webhooks.subscribe(|| true);
    let began = Instant::now();
    let mut done = Vec::new();
    while done.len() < ids.len() {
        let id: &DeliveryId = &ids[done.len()];
        let delivery = harness.webhooks.delivery(id.as_str()).await.unwrap();
        if matches!(
            delivery.status,
            DeliveryStatus::Completed | DeliveryStatus::Failed
        ) {
            done.push(delivery);
            continue;
        }
        assert!(began.elapsed() < Duration::from_mins(1), "{delivery:?}");
        // The timeout covers deliveries that ended before the subscription.
        drop(tokio::time::timeout(Duration::from_millis(100), changes.recv()).await);
    }
    done
}
