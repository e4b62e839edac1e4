use super::*;
use gatehouse_domain::input::from_value;
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
        (github.mode, github.header),
        (AuthMode::CodehostAHmacSha256, None)
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
    assert_eq!(back.auth.mode, AuthMode::StaticHeader);
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
    assert!(extra(json!({ "a": null })).is_err());
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
