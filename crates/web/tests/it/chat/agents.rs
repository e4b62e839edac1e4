//! `agents.*` and the agents of `GET /api/bootstrap`.

use super::{blamed, with_model};
use serde_json::json;

#[tokio::test]
async fn agents_are_made_listed_changed_and_deleted() {
    let (_server, owner) = with_model().await;
    let listed = owner.rpc("agents.list", json!({})).await.unwrap();
    assert_eq!(listed["agents"][0]["id"], "default");
    assert_eq!(listed["agents"].as_array().unwrap().len(), 1);
    let made = owner
        .rpc(
            "agents.create",
            json!({ "name": "Poet", "system_prompt": "Rhyme." }),
        )
        .await
        .unwrap();
    assert_eq!(
        (&made["id"], &made["max_turns"]),
        (&json!("poet"), &json!(12))
    );
    assert_eq!(made["tools"], json!({ "allow": [], "deny": [] }));
    let changed = owner
        .rpc(
            "agents.update",
            json!({ "id": "poet", "system_prompt": null, "temperature": 1 }),
        )
        .await
        .unwrap();
    assert!(changed.get("system_prompt").is_none());
    let found = owner
        .rpc("agents.get", json!({ "id": "poet" }))
        .await
        .unwrap();
    assert_eq!(found, changed);
    let first = owner.get("/api/bootstrap").await.expect(200);
    assert_eq!(first["agents"].as_array().unwrap().len(), 2);
    assert_eq!(first["agents"][1], found);

    let done = owner.rpc("agents.delete", json!({ "id": "poet" })).await;
    assert_eq!(done, Ok(json!({ "ok": true })));
    for (method, params, code) in [
        ("agents.delete", json!({ "id": "poet" }), "NOT_FOUND"),
        ("agents.get", json!({ "id": "poet" }), "NOT_FOUND"),
        ("agents.update", json!({ "id": "poet" }), "NOT_FOUND"),
        ("agents.delete", json!({ "id": "default" }), "CONFLICT"),
        (
            "agents.create",
            json!({ "name": "x", "id": "default" }),
            "CONFLICT",
        ),
    ] {
        assert_eq!(
            owner.rpc(method, params).await,
            Err(code.to_owned()),
            "{method}"
        );
    }
}

#[tokio::test]
async fn what_is_wrong_with_an_agent_is_named() {
    let (_server, owner) = with_model().await;
    for (method, params, field) in [
        ("agents.create", json!({}), "name"),
        (
            "agents.create",
            json!({ "name": "x", "colour": 1 }),
            "colour",
        ),
        (
            "agents.create",
            json!({ "name": "x", "max_turns": 0 }),
            "max_turns",
        ),
        (
            "agents.create",
            json!({ "name": "x", "temperature": 2.5 }),
            "temperature",
        ),
        (
            "agents.update",
            json!({ "id": "default", "name": "" }),
            "name",
        ),
        (
            "agents.update",
            json!({ "id": "default", "tools": { "x": 1 } }),
            "x",
        ),
        ("agents.get", json!({}), "id"),
        (
            "chat.send",
            json!({ "text": "x", "agent": "nobody" }),
            "agent",
        ),
        ("chat.send", json!({ "text": "" }), "text"),
        ("chat.send_sync", json!({}), "text"),
        ("chat.history", json!({ "limit": 5 }), "session"),
        ("sessions.get", json!({}), "id"),
        ("sessions.get", json!({ "id": "a", "key": "b" }), "key"),
        ("sessions.list", json!({ "limit": 501 }), "limit"),
        ("sessions.list", json!({ "cursor": "x" }), "cursor"),
        ("approval.resolve", json!({ "id": "x" }), "allow"),
    ] {
        let refusal = blamed(&owner, method, params.clone()).await;
        assert_eq!(
            refusal,
            (json!("INVALID_PARAMS"), json!(field)),
            "{method} {params}"
        );
    }
}
