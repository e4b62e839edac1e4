//! Payloads as vendors send them, with a hostile text in every place that a stranger may fill.

use crate::room::{create, headers, sender};
use crate::worker::house::{House, START};
use bytes::Bytes;
use gatehouse_domain::DeliveryId;
use gatehouse_webhooks::profile::{self, Profile};
use gatehouse_webhooks::sample::{SampleRequest, sample};
use gatehouse_webhooks::verify::{SignInput, sign};
use gatehouse_webhooks::{AuthMode, Ingested, Webhook};
use http::HeaderValue;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    PullRequest,
    Push,
    Generic,
}

pub const SHAPES: [Shape; 3] = [Shape::PullRequest, Shape::Push, Shape::Generic];

/// A webhook, and what its sender signs with.
pub struct Target {
    pub webhook: Webhook,
    profile: &'static Profile,
    mode: AuthMode,
    secret: String,
}

impl Target {
    /// A webhook that verifies as its profile's vendor signs. Generic ones take Standard Webhooks.
    pub async fn create(house: &House, profile: &str, more: Value) -> Self {
        let mode = match profile {
            "generic" => AuthMode::StandardWebhooks,
            _ => AuthMode::CodehostAHmacSha256,
        };
        let mut members = json!({
            "name": profile, "source_profile": profile, "auth_mode": mode.as_str(),
            "rate_limit_per_minute": 1_000_000, "session_mode": "per_delivery",
        });
        let more = more.as_object().unwrap().clone();
        members.as_object_mut().unwrap().extend(more);
        let made = create(house, members).await;
        Self {
            secret: made.secret.as_ref().unwrap().expose_secret().to_owned(),
            webhook: made.webhook,
            profile: profile::find(profile).unwrap(),
            mode,
        }
    }

    /// Sends it, and says under which id it was taken.
    pub async fn send(&self, house: &House, shape: Shape, number: usize, text: &str) -> DeliveryId {
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
            let event = if shape == Shape::Push { "push" } else { "pull_request" };
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
        let intake = house.webhooks.begin_ingest(public_id, &from, &all).await;
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
