//! Tests of the parent module.

use super::*;
use serde_json::json;

#[test]
fn a_uri_at_the_limit_and_one_past_it() {
    let of = |uri: String| resource(json!({ "uri": uri, "name": "n" }), false);
    assert!(of("ü".repeat(MAX_URI)).is_ok());
    assert!(of("ü".repeat(MAX_URI + 1)).is_err());
    for bad in ["", "file:///a b", "file:///a\u{202e}", "file:///a\n"] {
        assert!(of(bad.to_owned()).is_err(), "{bad:?}");
    }
    assert!(resource(json!({ "uri": 5 }), false).is_err());
    let template =
        json!({ "uriTemplate": "file:///{path}", "name": "n", "description": "a\u{1b}[1m\nb" });
    let template = resource(template, true).unwrap();
    assert_eq!(template.uri, "file:///{path}");
    assert_eq!(template.description.as_deref(), Some("a[1m b"));
}

#[test]
fn a_prompt_at_the_limits_and_one_past_them() {
    let of = |name: String, count: usize| {
        let arguments: Vec<Value> = (0..count)
            .map(|n| json!({ "name": format!("a{n}") }))
            .collect();
        prompt(json!({ "name": name, "arguments": arguments }))
    };
    let longest = "ü".repeat(MAX_NAME);
    let most = of(longest.clone(), MAX_ARGUMENTS).unwrap();
    assert_eq!(most.arguments.len(), MAX_ARGUMENTS);
    assert!(!most.arguments[0].required);
    assert!(of(format!("{longest}ü"), 0).is_err());
    assert!(of("p".to_owned(), MAX_ARGUMENTS + 1).is_err());
    for bad in ["", " ", "a\u{200b}", "a\nb"] {
        assert!(of(bad.to_owned(), 0).is_err(), "{bad:?}");
    }
}
