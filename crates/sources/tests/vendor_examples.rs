//! Examples from other vendors' documentation, reduced to the fields that Gatehouse reads.
//! `vendor_examples.json` contains the expected event type, delivery key and entity, and the source page of
//! each example; `snapshots/` contains the summaries.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests; the exception in clippy.toml sees tests only"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gatehouse_sources::Payload;
use gatehouse_sources::event;
use gatehouse_sources::profile;
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

#[test]
fn every_example_is_read_and_told() {
    let examples: Value = serde_json::from_str(include_str!("vendor_examples.json")).unwrap();
    let mut told: BTreeMap<&str, String> = BTreeMap::new();
    for example in examples.as_array().unwrap() {
        let page = example["page"].as_str().unwrap();
        let profile = profile::find(example["profile"].as_str().unwrap()).unwrap();
        let headers = headers(example);
        let body = match example["form"].as_str() {
            Some(form) => form.to_owned(),
            None => example["body"].to_string(),
        };
        let payload = Payload::parse(profile, &headers, body.as_bytes()).unwrap();
        let read = event::read(profile, None, &headers, &payload, body.as_bytes());
        assert_eq!(
            read.event_type.as_deref(),
            example["event"].as_str(),
            "{page}"
        );
        assert_eq!(
            read.delivery_key.as_deref(),
            example["key"].as_str(),
            "{page}"
        );
        assert_eq!(
            read.entity_key.as_deref(),
            example["entity"].as_str(),
            "{page}"
        );
        let summary = summarise(profile, read.event_type.as_deref(), &payload);
        let event = read.event_type.as_deref().unwrap_or("-");
        let text = told.entry(profile.id).or_default();
        writeln!(text, "=== {event} ({page})\n{summary}\n").unwrap();
    }
    assert_eq!(told.len(), profile::all().len() - 1, "all but codehost_a");
    for (profile, text) in told {
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("vendor-{profile}"), text);
        });
    }
}
