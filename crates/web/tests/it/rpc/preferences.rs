//! `preferences.*`.

use crate::steps::light_owner;
use gatehouse_testkit::Options;
use serde_json::{Value, json};

fn prompt(name: &str, value: &str) -> Value {
    json!({ "kind": "prompts", "name": name, "value": value })
}

#[tokio::test]
async fn filters_and_prompts_are_saved_by_kind_and_name() {
    let (_server, owner) = light_owner(Options::default()).await;
    let filter = json!({ "kind": "saved_filters", "name": "Mine", "value": "q=1" });
    for entry in [
        filter,
        prompt("Mine", "one"),
        prompt("Mine", "two"),
        prompt("A", "three"),
    ] {
        let saved = owner.rpc("preferences.set", entry).await;
        assert_eq!(saved, Ok(json!({ "ok": true })));
    }
    let all = owner.rpc("preferences.get", json!({})).await.unwrap();
    let expected = json!({
        "saved_filters": [{ "name": "Mine", "value": "q=1" }],
        "prompts": [{ "name": "A", "value": "three" }, { "name": "Mine", "value": "two" }],
    });
    assert_eq!(all, expected);
    let name = json!({ "kind": "prompts", "name": "Mine" });
    let deleted = owner.rpc("preferences.delete", name.clone()).await;
    assert_eq!(deleted, Ok(json!({ "ok": true })));
    let again = owner.rpc("preferences.delete", name).await;
    assert_eq!(again, Err("NOT_FOUND".to_owned()));
    let all = owner.rpc("preferences.get", json!({})).await.unwrap();
    assert_eq!(all["saved_filters"], expected["saved_filters"]);
    assert_eq!(all["prompts"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_kind_has_at_most_100_entries_and_each_can_still_be_replaced() {
    let (_server, owner) = light_owner(Options::default()).await;
    for number in 0..100 {
        let entry = prompt(&format!("prompt {number}"), "text");
        owner.rpc("preferences.set", entry).await.unwrap();
    }
    let past = owner
        .rpc("preferences.set", prompt("one more", "text"))
        .await;
    assert_eq!(past, Err("CONFLICT".to_owned()));
    let replaced = prompt("prompt 0", "changed");
    owner.rpc("preferences.set", replaced).await.unwrap();
    // The other kind has its own limit.
    let filter = json!({ "kind": "saved_filters", "name": "Mine", "value": "q=1" });
    owner.rpc("preferences.set", filter).await.unwrap();
    let all = owner.rpc("preferences.get", json!({})).await.unwrap();
    assert_eq!(all["prompts"].as_array().map(Vec::len), Some(100));
    assert_eq!(all["prompts"][0]["value"], "changed");
}

#[tokio::test]
async fn sizes_and_kinds_are_limited() {
    let (_server, owner) = light_owner(Options::default()).await;
    let longest = prompt(&"ü".repeat(60), &"ü".repeat(10_000));
    owner.rpc("preferences.set", longest).await.unwrap();
    for (entry, field) in [
        (prompt(&"ü".repeat(61), "text"), "name"),
        (prompt("a\0b", "text"), "name"),
        (prompt("name", &"ü".repeat(10_001)), "value"),
        (prompt("name", ""), "value"),
        (
            json!({ "kind": "themes", "name": "a", "value": "b" }),
            "kind",
        ),
    ] {
        let reply = owner.rpc_reply("preferences.set", entry).await.expect(200);
        let data = &reply["error"]["data"];
        assert_eq!(
            (&data["code"], &data["field"]),
            (&json!("INVALID_PARAMS"), &json!(field)),
            "{reply}"
        );
    }
    let unknown = json!({ "kind": "prompts", "name": "a\0b" });
    let deleted = owner.rpc("preferences.delete", unknown).await;
    assert_eq!(deleted, Err("NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn a_caller_that_may_only_read_changes_nothing() {
    let (server, owner) = light_owner(Options::default()).await;
    owner
        .rpc("preferences.set", prompt("Mine", "one"))
        .await
        .unwrap();
    let reader = server.api_key(&owner, &["operator.read"]).await;
    for (method, params) in [
        ("preferences.set", prompt("Mine", "two")),
        (
            "preferences.delete",
            json!({ "kind": "prompts", "name": "Mine" }),
        ),
    ] {
        let refused = reader.rpc(method, params).await;
        assert_eq!(refused, Err("FORBIDDEN".to_owned()), "{method}");
    }
    let all = reader.rpc("preferences.get", json!({})).await.unwrap();
    assert_eq!(all["prompts"], json!([{ "name": "Mine", "value": "one" }]));
}
