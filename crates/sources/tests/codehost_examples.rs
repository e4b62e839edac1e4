//! Verifies, parses and summarizes every example that GitHub's community publishes (npm
//! `@octokit/webhooks-examples`), signed as GitHub signs them. `src/vendors/github/snapshots/` contains
//! the summaries for human review, one file per event. `GATEHOUSE_TEST_WEBHOOK_EXAMPLES` names the folder in which
//! `tests/webhook-examples/package.json` was installed; `cargo xtask test` sets it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests; the exception in clippy.toml covers only tests"
)]

use std::fmt::Write as _;

use data_encoding::HEXLOWER;
use gatehouse_doubles::prepared;
use gatehouse_sources::Payload;
use gatehouse_sources::event::{self, Event, MAX_VALUE_CHARS};
use gatehouse_sources::profile::{self, Profile};
use gatehouse_sources::summary::{MAX_SUMMARY_CHARS, summarise};
use gatehouse_sources::verify::{VerifyInput, prove};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::HeaderMap;
use serde_json::Value;
use sha2::Sha256;

const SECRET: &str = "It's a Secret to Everybody";
const PACKAGE: &str = "node_modules/@octokit/webhooks-examples/api.github.com/index.json";
/// The number of events in version 7.6.1. A smaller number would mean that the test skips some.
const EVENTS: usize = 58;
const EXAMPLES: usize = 329;

/// Loads the examples. If they are missing, the test is skipped with a message, or fails in strict mode.
#[expect(
    clippy::disallowed_methods,
    reason = "a test may read a file synchronously"
)]
fn examples() -> Option<Value> {
    let folder = prepared(
        "GATEHOUSE_TEST_WEBHOOK_EXAMPLES",
        "the code host's examples",
    )?;
    let text = std::fs::read(folder.join(PACKAGE)).unwrap();
    Some(serde_json::from_slice(&text).unwrap())
}

/// Returns a delivery in GitHub's format: docs.github.com, "Validating webhook deliveries".
fn deliver(profile: &Profile, name: &str, id: &str, body: &[u8]) -> (Event, String) {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(body);
    let signature = format!("sha256={}", HEXLOWER.encode(&mac.finalize().into_bytes()));
    let mut headers = HeaderMap::new();
    headers.insert("x-github-event", name.parse().unwrap());
    headers.insert("x-github-delivery", id.parse().unwrap());
    headers.insert("x-hub-signature-256", signature.parse().unwrap());
    headers.insert("content-type", "application/json".parse().unwrap());
    let verified = prove(&VerifyInput {
        mode: profile.default_auth_mode,
        header: None,
        secrets: &[SECRET],
        headers: &headers,
        body,
        url: "https://gatehouse.example/api/webhooks/ingest/wh_1",
        now_ms: 0,
        tracker_tolerance_seconds: 300,
    });
    assert_eq!(verified.map(drop), Ok(()), "{name}");
    let payload = Payload::read(profile.body, body).unwrap();
    let event = event::read(profile, None, &headers, &payload, body);
    let kept = event::safe_headers(profile, None, &headers);
    let kept: Vec<_> = kept.keys().map(String::as_str).collect();
    assert_eq!(
        kept,
        ["content-type", "x-github-delivery", "x-github-event"]
    );
    let summary = summarise(profile, event.event_type.as_deref(), &payload);
    (event, summary)
}

/// Returns the expected entity key, computed from the example without the profile's rules.
fn expected_entity(example: &Value) -> Option<String> {
    let repository = example["repository"]["full_name"].as_str()?;
    let issue = &example["issue"];
    let pull = &example["pull_request"];
    if let Some(number) = pull["number"].as_u64() {
        return Some(format!("codehost_a:{repository}:pr:{number}"));
    }
    let kind = if issue["pull_request"].is_object() {
        "pr"
    } else {
        "issue"
    };
    let number = issue["number"].as_u64()?;
    Some(format!("codehost_a:{repository}:{kind}:{number}"))
}

#[test]
fn every_example_is_verified_parsed_and_summarized() {
    let Some(examples) = examples() else {
        return;
    };
    let profile = profile::find("github").unwrap();
    let mut seen = (0, 0);
    for entry in examples.as_array().unwrap() {
        let name = entry["name"].as_str().unwrap();
        let mut received = String::new();
        seen.0 += 1;
        for (index, example) in entry["examples"].as_array().unwrap().iter().enumerate() {
            seen.1 += 1;
            let body = serde_json::to_vec(example).unwrap();
            let id = format!("{name}-{index}");
            let (event, summary) = deliver(profile, name, &id, &body);
            let event_type = match example["action"].as_str() {
                Some(action) => format!("{name}.{action}"),
                None => name.to_owned(),
            };
            assert_eq!(event.event_type.as_deref(), Some(&*event_type));
            assert_eq!(event.delivery_key.as_deref(), Some(&*id));
            assert_eq!(event.entity_key, expected_entity(example), "{id}");
            assert!(event_type.chars().count() <= MAX_VALUE_CHARS);
            assert!(!summary.is_empty() && summary.chars().count() <= MAX_SUMMARY_CHARS);
            if let Some(repository) = example["repository"]["full_name"].as_str() {
                assert!(
                    summary.contains(repository),
                    "{id} does not name its repository"
                );
            }
            let entity = event.entity_key.as_deref().unwrap_or("-");
            writeln!(
                received,
                "=== {index}: {event_type} [{entity}]\n{summary}\n"
            )
            .unwrap();
        }
        insta::with_settings!({
            prepend_module_to_snapshot => false,
            omit_expression => true,
            snapshot_path => "../src/vendors/github/snapshots",
        }, {
            insta::assert_snapshot!(name, received);
        });
    }
    assert_eq!(seen, (EVENTS, EXAMPLES));
}
