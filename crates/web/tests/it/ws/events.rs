//! Events.

use crate::steps::light_owner;
use gatehouse_testkit::{Options, PASSWORD, Socket, TestServer};
use serde_json::json;

#[tokio::test]
async fn changes_of_the_vault_s_status_are_published() {
    let (server, owner) = TestServer::with_owner().await;
    let mut socket = server.socket(&owner, "/ws").await;
    for (path, body, status) in [
        ("seal", json!({}), "sealed"),
        ("unlock", json!({ "password": PASSWORD }), "unsealed"),
        ("disable", json!({}), "disabled"),
        ("enable", json!({ "password": PASSWORD }), "unsealed"),
    ] {
        owner
            .post(&format!("/api/auth/vault/{path}"), body)
            .await
            .expect(200);
        assert_eq!(
            socket.event("vault.status").await.unwrap(),
            json!({ "status": status }),
            "{path}"
        );
    }
}

#[tokio::test]
async fn the_first_password_is_published_to_connected_clients() {
    let server = TestServer::fresh().await;
    let mut socket = server.socket(&server.local(), "/ws").await;
    assert!(socket.connect(json!({})).await.unwrap()["result"].is_object());
    server.set_up().await;
    // The connection used the loopback identity, which ends with setup.
    assert_eq!(socket.closed().await, 4401);
}

#[tokio::test]
async fn changes_of_credentials_are_published_by_kind() {
    let (server, owner) = light_owner(Options::default()).await;
    let mut socket = server.socket(&owner, "/ws").await;
    server.api_key(&owner, &["operator.read"]).await;
    assert_eq!(
        socket.event("auth.changed").await.unwrap(),
        json!({ "what": "api_keys" })
    );
    owner.delete("/api/auth/sessions").await.expect(200);
    assert_eq!(
        socket.event("auth.changed").await.unwrap(),
        json!({ "what": "sessions" })
    );
}

async fn hears_before_an_answer(socket: &mut Socket, name: &str) -> bool {
    socket
        .send(json!({ "id": "mark", "method": "system.status" }).to_string())
        .await;
    let mut heard = false;
    loop {
        let frame = socket.next().await.unwrap();
        heard |= frame["method"] == name;
        if frame["id"] == "mark" {
            return heard;
        }
    }
}

#[tokio::test]
async fn events_are_for_who_may_read() {
    let (server, owner) = light_owner(Options::default()).await;
    let read = server.api_key(&owner, &["operator.read"]).await;
    let pairing = server.api_key(&owner, &["operator.pairing"]).await;
    let mut reader = server.socket(&read, "/ws").await;
    let mut other = server.socket(&pairing, "/ws").await;
    for socket in [&mut reader, &mut other] {
        hears_before_an_answer(socket, "auth.changed").await;
    }
    server.api_key(&owner, &["operator.read"]).await;
    reader.event("auth.changed").await.unwrap();
    // Events are sent in order. The reader has received this one, so the other client would have it too.
    assert!(!hears_before_an_answer(&mut other, "auth.changed").await);
}

#[tokio::test]
async fn changes_of_records_by_any_caller_are_published_by_kind() {
    let (server, owner) = light_owner(Options::default()).await;
    let mut socket = server.socket(&owner, "/ws").await;
    let calls = [
        ("env.set", json!({ "key": "A", "value": "1" }), "env"),
        ("env.delete", json!({ "key": "A" }), "env"),
        ("ssh_keys.generate", json!({ "name": "a" }), "ssh_keys"),
        ("ssh_keys.delete", json!({ "name": "a" }), "ssh_keys"),
        (
            "budgets.set",
            json!({ "scope": "all", "period": "month", "cost": 5 }),
            "budgets",
        ),
        (
            "preferences.set",
            json!({ "kind": "prompts", "name": "a", "value": "b" }),
            "preferences",
        ),
        (
            "preferences.delete",
            json!({ "kind": "prompts", "name": "a" }),
            "preferences",
        ),
        ("agents.create", json!({ "id": "a", "name": "A" }), "agents"),
        ("agents.update", json!({ "id": "a", "name": "B" }), "agents"),
        (
            "budgets.set",
            json!({ "scope": "agent:a", "period": "day", "tokens": 5 }),
            "agents",
        ),
        (
            "budgets.delete",
            json!({ "scope": "agent:a", "period": "day" }),
            "agents",
        ),
        ("agents.delete", json!({ "id": "a" }), "agents"),
        (
            "channels.create",
            json!({ "type": "log", "label": "L", "id": "l", "fields": {} }),
            "channels",
        ),
        (
            "channels.update",
            json!({ "id": "l", "label": "M" }),
            "channels",
        ),
        ("channels.delete", json!({ "id": "l" }), "channels"),
        (
            "config.set",
            json!({ "key": "tools.require_approval", "value": ["calc"] }),
            "config",
        ),
        (
            "webhooks.create",
            json!({ "name": "w", "auth_mode": "none", "deliver_only": true }),
            "webhooks",
        ),
        (
            "providers.set_key",
            json!({ "id": "openai", "key": "sk-something-long-enough" }),
            "providers",
        ),
    ];
    for (method, params, what) in calls {
        // Over HTTP, by another client: the socket has requested nothing.
        owner
            .rpc(method, params)
            .await
            .unwrap_or_else(|error| panic!("{method}: {error:?}"));
        let mut changed = socket.event("records.changed").await.unwrap();
        // An agent's budget is in two lists.
        if method.starts_with("budgets.") && what == "agents" {
            assert_eq!(changed, json!({ "what": "budgets" }), "{method}");
            changed = socket.event("records.changed").await.unwrap();
        }
        assert_eq!(changed, json!({ "what": what }), "{method}");
    }
}

#[tokio::test]
async fn refused_changes_are_not_published() {
    let (server, owner) = light_owner(Options::default()).await;
    let mut socket = server.socket(&owner, "/ws").await;
    for (method, params) in [
        ("env.delete", json!({ "key": "NONE" })),
        ("agents.delete", json!({ "id": "none" })),
        (
            "preferences.delete",
            json!({ "kind": "prompts", "name": "none" }),
        ),
        ("inbox.mark_read", json!({ "id": "imsg_none" })),
        ("sessions.delete", json!({ "id": "ses_none" })),
    ] {
        owner.rpc(method, params).await.unwrap_err();
    }
    assert!(!hears_before_an_answer(&mut socket, "records.changed").await);
}
