use super::*;
use crate::webhook::{DEFAULT_HEADER, WebhookConfig};
use gatehouse_domain::input::from_value;
use gatehouse_sources::filter::EventFilter;
use gatehouse_sources::profile;
use serde_json::json;

fn read(members: Value) -> WebhookInput {
    from_value(members).unwrap()
}

fn config(members: Value) -> WebhookConfig {
    read(members).first_config().unwrap().webhook
}

#[test]
fn absent_null_and_a_value_are_three_things() {
    let before = read(json!({ "name": "n", "model": "a/b", "enabled": false }));
    let stored = before.first_config().unwrap();
    assert_eq!(stored.webhook.model.as_deref(), Some("a/b"));
    assert!(!before.enabled_after(true));
    let untouched = read(json!({})).config_after(stored.clone()).unwrap();
    assert_eq!(untouched, stored);
    let cleared = read(json!({ "model": null, "enabled": null }));
    assert!(cleared.enabled_after(false));
    assert_eq!(cleared.config_after(stored).unwrap().webhook.model, None);
    assert_eq!(read(json!({})).name_after("n").unwrap(), "n");
    assert!(read(json!({ "name": null })).name_after("n").is_err());
}

#[test]
fn events_are_a_list_or_two() {
    let events = |value| config(json!({ "events": value })).events;
    assert_eq!(
        events(json!(["push"])),
        events(json!({ "allow": ["push"] }))
    );
    assert_eq!(events(json!({ "deny": ["a.*"] })).deny, ["a.*"]);
    assert_eq!(events(Value::Null), EventFilter::default());
}

#[test]
fn the_profile_says_the_mode_and_a_header_belongs_to_one_mode() {
    let mode = |members| read(members).first_config().unwrap().auth;
    assert_eq!(mode(json!({})).header.as_deref(), Some(DEFAULT_HEADER));
    let github = mode(json!({ "source_profile": "github" }));
    assert_eq!(
        (github.mode.as_str(), github.header),
        ("codehost_a_hmac_sha256", None)
    );
    let nested = mode(json!({ "auth": { "header": "X-Mine" } }));
    assert_eq!(nested.header.as_deref(), Some("X-Mine"));
    let stored = read(json!({})).first_config().unwrap();
    let bearer = read(json!({ "auth_mode": "bearer" }))
        .config_after(stored)
        .unwrap();
    assert_eq!(bearer.auth.header, None);
    let back = read(json!({ "auth_mode": null }))
        .config_after(bearer)
        .unwrap();
    assert_eq!(back.auth.mode, AuthMode::STATIC_HEADER);
}

/// Returns the field that the error names when this change, or this new webhook, is rejected.
fn blamed(members: Value, before: Option<&StoredConfig>) -> Option<&'static str> {
    let input = read(members);
    let checked = match before {
        Some(stored) => input.config_after(stored.clone()),
        None => input.first_config(),
    };
    match checked {
        Ok(_) => None,
        Err(crate::WebhooksError::Invalid { field, .. }) => Some(field),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn the_header_of_the_secret_is_none_that_is_stored() {
    let both = |header: &str, event: &str| json!({ "header": header, "event_header": event });
    assert_eq!(blamed(both("X-Mine", "X-Mine"), None), Some("event_header"));
    assert_eq!(blamed(both("X-Mine", "x-mINE"), None), Some("event_header"));
    assert_eq!(blamed(both("X-Mine", "X-Mine-2"), None), None);
    // A change of either header, or of only the mode, is also checked.
    let stored = read(both("X-Mine", "X-Kind")).first_config().unwrap();
    for change in [
        json!({ "header": "x-kind" }),
        json!({ "auth": { "header": "X-KIND" } }),
        json!({ "event_header": "x-mine" }),
    ] {
        assert_eq!(blamed(change, Some(&stored)), Some("event_header"));
    }
    assert_eq!(blamed(json!({ "name": "n" }), Some(&stored)), None);
    let bearer = json!({ "auth_mode": "bearer", "event_header": "X-Mine" });
    let bearer = read(bearer).config_after(stored).unwrap();
    let back = json!({ "auth_mode": "static_header", "header": "X-Mine" });
    assert_eq!(blamed(back, Some(&bearer)), Some("event_header"));
    // Headers that the profile records.
    for kept in ["X-Event-Type", "x-request-id", "Content-Type"] {
        assert_eq!(blamed(json!({ "header": kept }), None), Some("header"));
    }
}

#[test]
fn extra_values_are_text_at_and_past_their_limits() {
    let extra = |value: Value| read(json!({ "deliver_extra": value })).first_config();
    let many = |count: usize| -> Value {
        let members = (0..count).map(|number| (number.to_string(), json!("v")));
        Value::Object(members.collect())
    };
    assert!(extra(many(32)).is_ok());
    assert!(extra(many(33)).is_err());
    assert!(extra(json!({ "a": "v".repeat(4096) })).is_ok());
    assert!(extra(json!({ "a": "v".repeat(4097) })).is_err());
    assert!(extra(json!({ "a".repeat(64): "v" })).is_ok());
    assert!(extra(json!({ "a".repeat(65): "v" })).is_err());
}

#[test]
fn null_inside_clears_that_and_leaves_the_rest() {
    let lists = |allow: Value, deny: Value| json!({ "allow": allow, "deny": deny });
    let members = json!({
        "events": lists(json!(["a"]), json!(["b"])), "toolPolicy": lists(json!(["c"]), json!(["d"])),
        "deliver_extra": { "x": "1", "y": "2" },
    });
    let stored = read(members).first_config().unwrap();
    let after = |change: Value| {
        let after = read(change).config_after(stored.clone()).unwrap().webhook;
        json!([after.events, after.tool_policy, after.deliver_extra])
    };
    let null = json!({
        "events": { "allow": null }, "toolPolicy": { "deny": null }, "deliver_extra": { "x": null },
    });
    let expected = json!([
        lists(json!([]), json!(["b"])),
        lists(json!(["c"]), json!([])),
        { "y": "2" },
    ]);
    assert_eq!(after(null), expected);
    let whole = json!({
        "events": { "allow": ["n"] }, "toolPolicy": { "allow": [] }, "deliver_extra": { "z": "3" },
    });
    let expected = json!([
        lists(json!(["n"]), json!([])),
        lists(json!([]), json!([])),
        { "z": "3" },
    ]);
    assert_eq!(after(whole), expected, "without a null they are replaced");
    for (members, field) in [
        (json!({ "events": { "allowed": null } }), "events"),
        (json!({ "toolPolicy": { "only": null } }), "toolPolicy"),
    ] {
        assert_eq!(blamed(members, Some(&stored)), Some(field));
    }
    let fresh = config(json!({ "events": { "allow": null }, "deliver_extra": { "a": null } }));
    assert_eq!(fresh.events, EventFilter::default());
}

#[test]
fn no_header_that_any_profile_reads_carries_the_secret() {
    let stored = read(json!({})).first_config().unwrap();
    for profile in profile::all() {
        for header in profile.headers {
            let said = json!({ "header": header.to_ascii_uppercase() });
            assert_eq!(blamed(said.clone(), None), Some("header"), "{header}");
            assert_eq!(blamed(said, Some(&stored)), Some("header"), "{header}");
        }
    }
    // A header stored before this rule is rejected when the mode or profile changes.
    let mut old = read(json!({ "source_profile": "slack", "auth_mode": "static_header" }))
        .first_config()
        .unwrap();
    old.auth.header = Some("X-GitHub-Event".to_owned());
    for change in [
        json!({ "source_profile": "github" }),
        json!({ "auth_mode": "static_header" }),
    ] {
        assert_eq!(blamed(change, Some(&old)), Some("header"));
    }
    assert_eq!(blamed(json!({ "header": "X-Mine" }), Some(&old)), None);
}

#[test]
fn a_mode_that_the_profile_brought_goes_with_it() {
    let stored = read(json!({})).first_config().unwrap();
    let after = |members: Value, stored: &StoredConfig| {
        read(members)
            .config_after(stored.clone())
            .unwrap()
            .auth
            .mode
    };
    let github = json!({ "source_profile": "github" });
    assert_eq!(
        after(github.clone(), &stored).as_str(),
        "codehost_a_hmac_sha256"
    );
    let chosen = json!({ "source_profile": "github", "auth_mode": "static_header" });
    assert_eq!(after(chosen, &stored), AuthMode::STATIC_HEADER);
    let bearer = read(json!({ "auth_mode": "bearer" }))
        .first_config()
        .unwrap();
    assert_eq!(after(github, &bearer), AuthMode::BEARER);
}

#[test]
fn a_records_own_auth_can_be_sent_back() {
    let stored = read(json!({ "header": "X-Mine" })).first_config().unwrap();
    let again = read(json!({ "auth": {
        "header": "X-Mine", "configured": true, "secret_hint": "…abcd",
        "previous_secret_expires_at": "2026-01-01T00:00:00Z",
    } }));
    assert!(!again.secret().is_said());
    assert_eq!(again.config_after(stored.clone()).unwrap(), stored);
    assert!(from_value::<WebhookInput>(json!({ "auth": { "colour": 1 } })).is_err());
}

#[test]
fn a_model_has_a_name_and_its_provider_an_id() {
    let long = format!("{}/m", "p".repeat(64));
    for good in ["m", "a/b", "a/b/c", "Open.Router_1-x/m", long.as_str()] {
        assert_eq!(blamed(json!({ "model": good }), None), None, "{good}");
    }
    let longer = format!("{}/m", "p".repeat(65));
    for bad in [
        "",
        " ",
        "a/",
        "a/ ",
        "/b",
        "/",
        "a b/c",
        "ä/c",
        longer.as_str(),
    ] {
        assert_eq!(
            blamed(json!({ "model": bad }), None),
            Some("model"),
            "{bad}"
        );
    }
}

#[test]
fn the_schema_names_every_member() {
    let schema = schemars::schema_for!(WebhookInput);
    let properties = schema.get("properties").and_then(Value::as_object).unwrap();
    for name in [
        "name",
        "toolPolicy",
        "events",
        "secret",
        "deliver_extra",
        "allowed_cidrs",
    ] {
        assert!(properties.contains_key(name), "{name}");
    }
    assert_eq!(schema.get("additionalProperties"), Some(&json!(false)));
    let spoken = ["sourceProfile", "tool_policy"].map(|name| properties.contains_key(name));
    assert_eq!(spoken, [false, false], "aliases are taken, not offered");
}
