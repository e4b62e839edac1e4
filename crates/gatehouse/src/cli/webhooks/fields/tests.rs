//! Tests of the parent module.

use super::*;
use clap::Parser;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    fields: Fields,
}

fn params(line: &[&str]) -> Value {
    let line = Line::try_parse_from(["x"].iter().chain(line)).unwrap();
    Value::Object(line.fields.into_params().unwrap())
}

#[test]
fn flags_become_the_fields_of_the_api() {
    assert_eq!(params(&[]), json!({}));
    let given = params(&[
        "--events",
        "push, issues.opened",
        "--system-prompt",
        "Be brief.",
        "--deliver-only",
        "--deliver-extra",
        "chat_id=4=2",
        "--allow-tools",
        "calc",
        "--replay-guard",
        "bytes",
        "--redeliver-failed",
        "--on-limit",
        "queue",
    ]);
    let expected = json!({
        "events": { "allow": ["push", "issues.opened"] },
        "system_prompt_suffix": "Be brief.",
        "toolPolicy": { "allow": ["calc"] },
        "deliver_only": true,
        "deliver_extra": { "chat_id": "4=2" },
        "replay_guard": "bytes",
        "redeliver_failed": true,
        "on_limit": "queue",
    });
    assert_eq!(given, expected);
}

#[test]
fn conditions_are_a_path_a_comparison_and_a_value() {
    let one = |condition: &str| {
        let given = params(&["--payload-filter", condition]);
        given["payload_filter"][0].clone()
    };
    for (text, value) in [
        ("false", json!(false)),
        ("1.5", json!(1.5)),
        ("null", json!(null)),
        ("\"42\"", json!("42")),
        ("main", json!("main")),
        ("two words", json!("two words")),
        ("[1]", json!("[1]")),
        ("{a}", json!("{a}")),
    ] {
        let expected = json!({ "path": "a.0.b", "is": "equals", "value": value });
        assert_eq!(one(&format!("a.0.b equals {text}")), expected);
    }
    assert_eq!(one(" a  exists "), json!({ "path": "a", "is": "exists" }));
    // The gateway refuses the member and names it.
    assert_eq!(one("a"), json!({ "path": "a", "is": "" }));
    let or = json!({ "path": "labels.*.name", "is": "equals", "value": "or", "or": true });
    assert_eq!(one(" or  labels.*.name equals or"), or);
    let named_or = json!({ "path": "or", "is": "equals", "value": "exists" });
    assert_eq!(one("or equals exists"), named_or);
    let two = params(&[
        "--payload-filter",
        "a exists",
        "--payload-filter",
        "b missing",
    ]);
    let expected = json!([{ "path": "a", "is": "exists" }, { "path": "b", "is": "missing" }]);
    assert_eq!(two["payload_filter"], expected);
    let cleared = params(&["--payload-filter", ""]);
    assert_eq!(cleared, json!({ "payload_filter": null }));
}

#[test]
fn a_schedule_has_one_kind_of_time() {
    let given = params(&["--schedule", "0 9 * * *", "--timezone", "Europe/Berlin"]);
    let expected = json!({ "schedule": { "cron": "0 9 * * *", "timezone": "Europe/Berlin" } });
    assert_eq!(given, expected);
    assert_eq!(
        params(&["--every", "60"]),
        json!({ "schedule": { "every_seconds": 60 } })
    );
    let once = json!({ "schedule": { "at": "2026-12-24T18:00" } });
    assert_eq!(params(&["--at", "2026-12-24T18:00"]), once);
    for line in [
        &["--schedule", "0 9 * * *", "--every", "60"][..],
        &["--timezone", "Europe/Berlin"],
    ] {
        assert!(Line::try_parse_from(["x"].iter().chain(line)).is_err());
    }
}

#[test]
fn an_empty_text_takes_a_field_back() {
    let given = params(&[
        "--agent",
        "",
        "--events",
        "",
        "--allowed-cidrs",
        "",
        "--deliver-extra",
        "",
        "--deliver-only=false",
    ]);
    let expected = json!({
        "agent": null, "events": { "allow": [] }, "allowed_cidrs": [], "deliver_extra": null,
        "deliver_only": false,
    });
    assert_eq!(given, expected);
}

#[test]
fn a_guard_and_what_happens_at_the_limit_are_one_of_two() {
    for line in [["--replay-guard", "body"], ["--on-limit", "drop"]] {
        assert!(Line::try_parse_from(["x"].iter().chain(&line)).is_err());
    }
}

#[test]
fn extra_without_a_value_is_a_mistake() {
    let line = Line::try_parse_from(["x", "--deliver-extra", "chat"]).unwrap();
    assert!(line.fields.into_params().is_err());
}
