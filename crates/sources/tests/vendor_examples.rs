//! Payloads in the format that the vendors document, reduced to the fields that Gatehouse reads. The values may be
//! ours. `examples.json` in the vendor's folder contains the expected event type, delivery key and entity. Its
//! member `page` is the page that documents the format. `examples.snap` contains the summaries.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "helpers of tests; the exception in clippy.toml covers only tests"
)]

use std::fmt::Write as _;

use gatehouse_sources::Payload;
use gatehouse_sources::event;
use gatehouse_sources::profile::{self, Profile};
use gatehouse_sources::summary::summarise;
use http::{HeaderMap, HeaderName};
use serde_json::Value;

fn headers(example: &Value) -> HeaderMap {
    let pairs = example["headers"].as_object().unwrap();
    pairs
        .iter()
        .map(|(name, value)| {
            let name: HeaderName = name.parse().unwrap();
            (name, value.as_str().unwrap().parse().unwrap())
        })
        .collect()
}

/// Returns the examples in the vendor's folder. GitHub's examples are in `codehost_examples.rs`.
fn examples(profile: &Profile) -> Option<Vec<Value>> {
    let folder = profile.alias.unwrap_or(profile.id);
    let file = format!(
        "{}/src/vendors/{folder}/examples.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read(file).ok()?;
    Some(serde_json::from_slice(&text).unwrap())
}

#[test]
fn every_example_is_read_and_summarized() {
    for profile in profile::all() {
        let Some(examples) = examples(profile) else {
            assert_eq!(profile.alias, Some("github"), "{profile} has no examples");
            continue;
        };
        let mut summaries = String::new();
        for example in &examples {
            let page = example["page"].as_str().unwrap();
            let headers = headers(example);
            let body = match example["form"].as_str() {
                Some(form) => form.to_owned(),
                None => example["body"].to_string(),
            };
            let payload = Payload::read(profile.body, body.as_bytes()).unwrap();
            let read = event::read(profile, None, &headers, &payload, body.as_bytes());
            for (found, expected) in [
                (&read.event_type, "event"),
                (&read.delivery_key, "key"),
                (&read.entity_key, "entity"),
            ] {
                assert_eq!(found.as_deref(), example[expected].as_str(), "{page}");
            }
            let summary = summarise(profile, read.event_type.as_deref(), &payload);
            let event = read.event_type.as_deref().unwrap_or("-");
            writeln!(summaries, "=== {event} ({page})\n{summary}\n").unwrap();
        }
        let folder = profile.alias.unwrap_or(profile.id);
        insta::with_settings!({
            prepend_module_to_snapshot => false,
            omit_expression => true,
            snapshot_path => format!("../src/vendors/{folder}"),
        }, {
            insta::assert_snapshot!("examples", summaries);
        });
    }
}
