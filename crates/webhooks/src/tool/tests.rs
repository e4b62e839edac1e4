//! Tests of the parent module.

use super::*;

#[test]
fn the_schema_has_the_actions_and_every_setting() {
    let schema = parameters();
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["required"], json!(["action"]));
    assert_eq!(
        schema["properties"]["action"]["enum"]
            .as_array()
            .unwrap()
            .len(),
        8
    );
    for setting in [
        "name",
        "source_profile",
        "events",
        "toolPolicy",
        "deliver_extra",
    ] {
        assert!(
            schema["properties"][setting].is_object(),
            "{setting}: {schema}"
        );
    }
    assert!(schema["$defs"]["AuthInput"]["properties"]["header"].is_object());
    assert!(!schema.to_string().contains(r#""secret":"#), "{schema}");
}

#[test]
fn a_secret_is_refused_wherever_it_stands_and_not_repeated() {
    for input in [
        json!({ "secret": "hunter2-hunter2" }),
        json!({ "secret": null }),
        json!({ "auth": { "secret": "hunter2-hunter2" } }),
    ] {
        let error = refuse_secret(input.as_object().unwrap()).unwrap_err();
        assert!(error.message.contains("is not accepted here"));
        assert!(!error.message.contains("hunter2"));
    }
    let fine = json!({ "name": "n", "auth": { "header": "X-Mine" } });
    assert!(refuse_secret(fine.as_object().unwrap()).is_ok());
}

#[test]
fn the_target_is_the_object_that_the_action_uses() {
    for (input, expected) in [
        (json!({ "action": "delete", "id": "a" }), "delete:a"),
        (
            json!({ "action": "delete", "id": "a", "delivery_id": "trusted" }),
            "delete:a",
        ),
        (
            json!({ "action": "replay", "id": "a", "delivery_id": "b" }),
            "replay:b",
        ),
        (
            json!({ "action": "replay", "id": "a", "delivery_id": null }),
            "replay:a",
        ),
        (json!({ "action": "create", "delivery_id": "b" }), "create"),
    ] {
        assert_eq!(target(&input).as_deref(), Some(expected), "{input}");
    }
    assert_eq!(target(&json!({ "id": "a" })), None);
}

#[test]
fn the_audit_log_tells_a_tool_from_its_person() {
    let actor = tool_actor(&Actor::cli());
    assert_eq!(actor.name, "tool webhook for cli");
}
