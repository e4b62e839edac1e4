//! Every sample is read by its profile as the event that it represents.

use std::fmt::Write as _;

use http::{HeaderMap, HeaderName, HeaderValue};

use super::*;
use crate::event;
use crate::payload::Payload;
use crate::profile;
use crate::summary::summarise;
use crate::verify::{SignInput, VerifyInput, prove, sign};

const NOW: i64 = 1_790_000_000_000;
const URL: &str = "https://gatehouse.example/api/webhooks/ingest/wh_1";
/// Base64, so that it works in every mode.
const SECRET: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

fn deliver(profile: &Profile, request: &SampleRequest<'_>) -> (event::Event, String) {
    let sample = sample(profile, request);
    let mode = profile.default_auth_mode;
    let mut headers = HeaderMap::new();
    for (name, value) in &sample.headers {
        headers.append(
            HeaderName::from_bytes(name.as_bytes()).unwrap(),
            HeaderValue::from_str(value).unwrap(),
        );
    }
    let signed = sign(&SignInput {
        mode,
        header: None,
        secret: SECRET,
        url: URL,
        body: &sample.body,
        now_ms: NOW,
        id: request.id,
    });
    for (name, value) in signed {
        headers.insert(name, value);
    }
    let verified = prove(&VerifyInput {
        mode,
        header: None,
        secrets: &[SECRET],
        headers: &headers,
        body: &sample.body,
        url: URL,
        now_ms: NOW,
        tracker_tolerance_seconds: 300,
    });
    assert_eq!(verified.is_ok(), mode.can_sign(), "{profile}");
    let payload = Payload::read(profile.body, &sample.body).unwrap();
    let event = event::read(
        profile,
        request.event_header,
        &headers,
        &payload,
        &sample.body,
    );
    let summary = summarise(profile, event.event_type.as_deref(), &payload);
    let asked = request.event.unwrap_or_else(|| default_event(profile));
    assert_eq!(event.event_type.as_deref(), Some(asked), "{profile}");
    (event, summary)
}

fn request<'a>(event: Option<&'a str>, id: &'a str) -> SampleRequest<'a> {
    SampleRequest {
        event,
        event_header: None,
        id,
        now_ms: NOW,
    }
}

#[test]
fn every_file_is_read_and_names_only_its_parts() {
    for profile in profile::all() {
        let file: File = serde_json::from_str(profile.sample).unwrap();
        let last = file.bodies.last().unwrap();
        assert!(
            last.of.is_empty(),
            "{profile}: the last body is for any event"
        );
        for part in file.bodies.iter().flat_map(|body| &body.merge) {
            let known = part
                .as_str()
                .is_none_or(|name| file.parts.contains_key(name));
            assert!(known, "{profile}: {part}");
        }
        // An unknown placeholder would remove its member, and with it a field of the summary.
        let mut rest = profile.sample;
        while let Some((_, after)) = rest.split_once("\"{") {
            let (choice, after) = after.split_once('}').unwrap();
            let known = choice.split('|').any(|name| {
                let values = Values {
                    event: "a.b",
                    id: "",
                    now_ms: 0,
                };
                values.named(name).is_some()
            });
            assert!(known, "{profile}: {choice}");
            rest = after;
        }
    }
}

#[test]
fn samples_of_every_event_are_verified_and_read_as_asked() {
    for profile in profile::all() {
        for known in profile.catalog() {
            let (one, summary) = deliver(profile, &request(Some(known.name), "one"));
            let (other, _) = deliver(profile, &request(Some(known.name), "other"));
            if !profile.delivery_key.is_empty() {
                assert!(one.delivery_key.is_some(), "{profile} {}", known.name);
                assert_ne!(
                    one.delivery_key, other.delivery_key,
                    "{profile} {}",
                    known.name
                );
            }
            assert!(!summary.is_empty());
            // The replay guard `bytes` must accept a second sample.
            let body = |id| sample(profile, &request(Some(known.name), id)).body;
            assert_ne!(body("one"), body("other"), "{profile} {}", known.name);
        }
    }
}

#[test]
fn a_sample_without_an_event_and_one_of_an_unknown_event() {
    for profile in profile::all() {
        let (event, _) = deliver(profile, &request(None, "one"));
        let first = profile.events.first().map_or("test", |event| event.name);
        assert_eq!(event.event_type.as_deref(), Some(first));
    }
    for id in [
        "generic",
        "codehost_a",
        "codehost_b",
        "payments",
        "incident",
        "slack",
        "errors",
    ] {
        deliver(
            profile::find(id).unwrap(),
            &request(Some("strange.thing"), "one"),
        );
    }
}

#[test]
fn the_webhooks_own_header_names_the_event() {
    let request = SampleRequest {
        event: Some("deploy.done"),
        event_header: Some("X-My-Event"),
        id: "one",
        now_ms: NOW,
    };
    let made = sample(profile::find("generic").unwrap(), &request);
    assert!(
        made.headers
            .contains(&("x-my-event".to_owned(), "deploy.done".to_owned()))
    );
    deliver(profile::find("generic").unwrap(), &request);
}

/// A snapshot for human review: the summary of every event type that a profile offers.
#[test]
fn samples_are_summarized() {
    for profile in profile::all() {
        let mut listed = String::new();
        let names: Vec<&str> = profile.events.iter().map(|event| event.name).collect();
        let names = if names.is_empty() {
            vec!["test"]
        } else {
            names
        };
        for name in names {
            let (event, summary) = deliver(profile, &request(Some(name), "01SAMPLE"));
            let entity = event.entity_key.as_deref().unwrap_or("-");
            write!(listed, "=== {name} [{entity}]\n{summary}\n\n").unwrap();
        }
        let folder = profile.alias.unwrap_or(profile.id);
        insta::with_settings!({
            prepend_module_to_snapshot => false,
            omit_expression => true,
            snapshot_path => format!("../vendors/{folder}"),
        }, {
            insta::assert_snapshot!("sample", listed);
        });
    }
}
