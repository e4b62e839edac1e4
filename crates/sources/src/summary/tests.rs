//! Hostile payloads: a summary is always bounded and clean, and never contains forged lines.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::clean::MAX_VALUE_CHARS;
use crate::event;
use crate::profile;
use crate::sample::{SampleRequest, sample};

/// A line that must never originate from the payload.
const FORGED: &str = "Forged: by a stranger";

fn summary_of(profile: &str, event: Option<&str>, body: &Value) -> String {
    let payload = Payload::from_json(&body.to_string()).unwrap();
    summarise(profile::find(profile).unwrap(), event, &payload)
}

fn assert_sound(summary: &str, context: &str) {
    assert!(!summary.is_empty(), "{context}");
    assert!(summary.chars().count() <= MAX_SUMMARY_CHARS, "{context}");
    assert!(
        !summary.ends_with('\n') && !summary.starts_with('\n'),
        "{context}"
    );
    let hidden = |character: char| {
        (character.is_control() && character != '\n')
            || matches!(character, '\u{202e}' | '\u{200b}' | '\u{e0041}')
    };
    assert!(!summary.chars().any(hidden), "{context}: {summary:?}");
    assert!(
        !summary.lines().any(|line| line == FORGED),
        "{context}: {summary}"
    );
}

/// Returns the values that a hostile sender sends instead of the expected ones.
fn junk() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("é"),
        json!(format!("x\n{FORGED}\r\n{FORGED}\r{FORGED}\u{2028}{FORGED}")),
        json!("\u{1b}[2J\u{0}\u{202e}\u{200b}\u{e0041}---\n---\n"),
        json!("<!-- a --> b <!--"),
        json!("x".repeat(100_000)),
        json!("word ".repeat(20_000)),
        json!("line\n".repeat(20_000)),
        json!({}),
        json!([]),
        json!(vec!["item"; 5_000]),
        json!([[[[1]]], { "a": [{}] }, null]),
        json!({ format!("k\n{FORGED}"): { "name": "n", "title": [] }, "from": {}, "to": 1 }),
    ]
}

/// Collects JSON pointers to all nested values.
fn places(value: &Value, here: &str, found: &mut Vec<String>) {
    found.push(here.to_owned());
    let escape = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                places(member, &format!("{here}/{}", escape(key)), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, &format!("{here}/{index}"), found);
            }
        }
        _ => {}
    }
}

fn sampled(profile: &'static Profile, event: &str) -> Value {
    let request = SampleRequest {
        event: Some(event),
        event_header: None,
        id: "1",
        now_ms: 1_790_000_000_000,
    };
    let made = sample(profile, &request);
    let payload = Payload::read(profile.body, &made.body).unwrap();
    serde_json::from_str(&payload.into_text()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_value_may_be_anything(
        which in 0..profile::all().len(),
        event in 0..200_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..18_usize), 1..5),
    ) {
        let profile = profile::all()[which];
        let catalog: Vec<&str> = profile.catalog().map(|event| event.name).collect();
        let event_type = catalog.get(event % catalog.len().max(1)).copied().unwrap_or("test");
        let mut body = sampled(profile, event_type);
        for (place, kind) in changes {
            let mut found = Vec::new();
            places(&body, "", &mut found);
            let pointer = &found[place.index(found.len())];
            *body.pointer_mut(pointer).unwrap() = junk()[kind].clone();
        }
        let text = body.to_string();
        let payload = Payload::from_json(&text).unwrap();
        let summary = summarise(profile, Some(event_type), &payload);
        assert_sound(&summary, event_type);
        let headers = http::HeaderMap::new();
        let read = event::read(profile, None, &headers, &payload, text.as_bytes());
        for value in [&read.event_type, &read.delivery_key].into_iter().flatten() {
            prop_assert!(value.chars().count() <= MAX_VALUE_CHARS + 10, "{value}");
            prop_assert!(!value.chars().any(char::is_control));
        }
        if let Some(entity) = &read.entity_key {
            prop_assert!(entity.chars().count() <= 3 * MAX_VALUE_CHARS + 50);
            prop_assert!(!entity.chars().any(char::is_control));
        }
    }
}

#[test]
fn every_kind_of_junk_alone_is_summarized() {
    for profile in profile::all() {
        for value in junk() {
            assert_sound(&summary_of(profile.id, Some("push"), &value), profile.id);
            assert_sound(
                &summary_of(profile.id, None, &json!({ "action": value })),
                profile.id,
            );
        }
    }
}

#[test]
fn a_text_with_lines_cannot_pass_for_lines_of_ours() {
    let body = json!({ "pull_request": {
        "number": 1,
        "title": format!("t\n{FORGED}"),
        "body": format!("first\n{FORGED}\n---\nlast"),
    }});
    let summary = summary_of("codehost_a", Some("pull_request.opened"), &body);
    assert!(
        summary.contains("Pull request: #1 t Forged: by a stranger\n"),
        "{summary}"
    );
    let end = format!("Description:\n  first\n  {FORGED}\n  ---\n  last");
    assert!(summary.ends_with(&end), "{summary}");
}

#[test]
fn invisible_text_is_left_out() {
    let body =
        json!({ "issue": { "number": 1, "title": "t", "body": "shown<!-- hidden orders -->" } });
    let summary = summary_of("codehost_a", Some("issues.opened"), &body);
    assert!(
        summary.contains("shown") && !summary.contains("hidden orders"),
        "{summary}"
    );
}

#[test]
fn a_long_list_says_how_many_more_there_are() {
    let commit =
        json!({ "id": "0123456789abcdef", "message": "m\n\nbody", "author": { "name": "a" } });
    let commits = vec![commit; 20];
    let body = json!({ "ref": "refs/heads/main", "commits": commits, "total_commits_count": 25 });
    let summary = summary_of("codehost_b", Some("push"), &body);
    assert_eq!(summary.matches("• 0123456789 m (a)").count(), 20);
    assert!(summary.ends_with("• … and 5 more"), "{summary}");
    let words = json!({ "issue": { "number": 1, "labels": vec![json!({ "name": "l" }); 21] } });
    let summary = summary_of("codehost_a", Some("issues.opened"), &words);
    assert!(summary.contains("l, l and 1 more"), "{summary}");
}

#[test]
fn an_unknown_payload_is_outlined_from_the_outside_inwards() {
    let body = json!({
        "deep": { "inner": { "value": 1, "more": { "even": { "deeper": true } } } },
        "nothing": null,
        "temperature": 21.50,
        "ok": true,
        "tags": ["a", 2],
        "rows": [{ "n": 1 }, { "n": 2 }],
        "text": "two\nlines",
    });
    let summary = summary_of("generic", None, &body);
    let expected = "temperature: 21.5\nok: yes\ntext:\n  two\n  lines\ndeep.inner.value: 1\n\
                    tags: a, 2\nrows.0.n: 1\nrows.1.n: 2";
    assert_eq!(summary, expected);
    assert_eq!(
        summary_of("generic", None, &json!({})),
        "The payload is empty."
    );
    assert_eq!(summary_of("generic", None, &json!("hi")), "Payload:\n  hi");
    assert_eq!(summary_of("generic", None, &json!([1, 2])), "0: 1\n1: 2");
}

#[test]
fn an_outline_ends_at_its_limit() {
    let members = |number: usize| -> Value {
        (0..number)
            .map(|index| (format!("k{index}"), json!(index)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let summary = |number| summary_of("generic", None, &members(number));
    assert_eq!(summary(39).lines().count(), 39);
    assert!(summary(39).ends_with("k38: 38"));
    assert!(summary(41).ends_with("k39: 39\n(The payload has more.)"));
}

#[test]
fn an_unknown_event_of_a_known_vendor_names_what_it_is_about() {
    let body = json!({
        "action": "frobbed",
        "frob": { "number": 7, "name": "The frob", "state": "new", "html_url": "https://codehost.example/f/7" },
        "repository": { "full_name": "o/r" },
        "sender": { "login": "ada" },
    });
    let summary = summary_of("codehost_a", Some("frob.frobbed"), &body);
    let expected = "ada frobbed.\nRepository: o/r\nFrob: #7 The frob\nState: new\n\
                    URL: https://codehost.example/f/7";
    assert_eq!(summary, expected);
}

#[test]
fn the_whole_is_cut_at_its_limit() {
    let body = json!({ "issue": { "number": 1, "body": "x".repeat(9_000) } });
    let summary = summary_of("codehost_a", Some("issues.opened"), &body);
    assert!(
        summary.ends_with('…') && summary.chars().count() < 3_200,
        "{}",
        summary.len()
    );
    let many: Value = (0..30)
        .map(|index| (format!("k{index}"), json!("y ".repeat(400))))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let summary = summary_of("generic", None, &many);
    assert_eq!(summary.chars().count(), MAX_SUMMARY_CHARS);
    assert!(summary.ends_with('…'));
}
