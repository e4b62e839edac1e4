//! Tests of the parent module.

use super::*;
use crate::error::WebhooksError;
use serde_json::json;

/// Returns the reason why a list is refused.
fn refused(list: &Value) -> String {
    match conditions(list) {
        Err(WebhooksError::Invalid { field, reason }) => {
            assert_eq!(field, "payload_filter");
            reason
        }
        other => panic!("{list}: {other:?}"),
    }
}

fn one(path: &str, is: &str, value: &Value) -> Value {
    json!([{ "path": path, "is": is, "value": value }])
}

#[test]
fn conditions_of_every_kind_are_accepted() {
    let list = json!([
        { "path": "pull_request.draft", "is": "equals", "value": false },
        { "path": "labels.0.name", "is": "not_equals", "value": "" },
        { "path": "$x-y/ü", "is": "contains", "value": "a" },
        { "path": "a", "is": "exists" },
        { "path": "a", "is": "missing" },
        { "path": "a", "is": "greater", "value": 1.5 },
        { "path": "a", "is": "less", "value": -1 },
        { "path": "a", "is": "equals", "value": null },
        { "path": "labels.*.name", "is": "equals", "value": "bug", "or": true },
        { "path": "*", "is": "exists", "or": true },
    ]);
    let checked = conditions(&list).unwrap();
    assert_eq!(serde_json::to_value(&checked).unwrap(), list);
    assert_eq!(conditions(&json!([])).unwrap(), []);
    let null = json!([{ "path": "a", "is": "exists", "value": null }]);
    assert_eq!(conditions(&null).unwrap()[0].value, None);
    let no = json!([{ "path": "a", "is": "exists", "or": false }]);
    assert!(!conditions(&no).unwrap()[0].or);
}

#[test]
fn each_limit_is_accepted_and_one_past_it_refused() {
    let many = |count: usize| {
        let one = json!({ "path": "a", "is": "exists" });
        Value::Array(vec![one; count])
    };
    assert_eq!(conditions(&many(20)).unwrap().len(), 20);
    assert_eq!(refused(&many(21)), "at most 20 conditions");
    let path = |count: usize| json!([{ "path": "é".repeat(count), "is": "exists" }]);
    assert!(conditions(&path(200)).is_ok());
    assert_eq!(
        refused(&path(201)),
        "condition 1: path: at most 200 characters"
    );
    let value = |count: usize| one("a", "equals", &json!("é".repeat(count)));
    assert!(conditions(&value(500)).is_ok());
    assert_eq!(
        refused(&value(501)),
        "condition 1: value: at most 500 characters"
    );
}

#[test]
fn a_refusal_names_the_condition_and_its_member() {
    assert_eq!(refused(&json!("a")), "expected a list of conditions");
    let second = |value: Value| {
        let reason = refused(&json!([{ "path": "a", "is": "exists" }, value]));
        reason.strip_prefix("condition 2: ").unwrap().to_owned()
    };
    let shape = "expected an object with path, is, value and or";
    assert_eq!(second(json!("a")), shape);
    let first = json!([{ "path": "a", "is": "exists", "or": true }]);
    let reason = "condition 1: or: not used with the first condition";
    assert_eq!(refused(&first), reason);
    assert_eq!(
        second(json!({ "path": "a", "is": "exists", "not": true })),
        shape
    );
    for (member, value) in [
        ("path", json!({ "is": "exists" })),
        ("path", json!({ "path": 1, "is": "exists" })),
        ("path", json!({ "path": "", "is": "exists" })),
        ("path", json!({ "path": "a..b", "is": "exists" })),
        ("path", json!({ "path": "a.", "is": "exists" })),
        ("path", json!({ "path": " a", "is": "exists" })),
        ("path", json!({ "path": "a\u{0}", "is": "exists" })),
        ("path", json!({ "path": "{a}", "is": "exists" })),
        ("path", json!({ "path": "__raw__", "is": "exists" })),
        ("is", json!({ "path": "a" })),
        ("is", json!({ "path": "a", "is": "matches" })),
        ("is", json!({ "path": "a", "is": 1 })),
        ("value", json!({ "path": "a", "is": "equals" })),
        (
            "value",
            json!({ "path": "a", "is": "exists", "value": true }),
        ),
        ("or", json!({ "path": "a", "is": "exists", "or": 1 })),
        ("or", json!({ "path": "a", "is": "exists", "or": null })),
        ("value", json!({ "path": "a", "is": "equals", "value": [] })),
        (
            "value",
            json!({ "path": "a", "is": "greater", "value": "1" }),
        ),
        ("value", json!({ "path": "a", "is": "less", "value": null })),
        (
            "value",
            json!({ "path": "a", "is": "contains", "value": "" }),
        ),
        (
            "value",
            json!({ "path": "a", "is": "equals", "value": "\u{0}" }),
        ),
    ] {
        let reason = second(value.clone());
        let named = reason.split(": ").next().unwrap();
        assert_eq!(named, member, "{value}: {reason}");
    }
}
