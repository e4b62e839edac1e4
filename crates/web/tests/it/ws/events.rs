//! Events.

use crate::steps::light_owner;
use gatehouse_testkit::{Options, PASSWORD, Socket, TestServer};
use serde_json::json;

#[tokio::test]
async fn the_vault_s_life_is_told() {
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
async fn the_first_password_is_told_to_who_is_there() {
    let server = TestServer::fresh().await;
    let mut socket = server.socket(&server.local(), "/ws").await;
    assert!(socket.connect(json!({})).await.unwrap()["result"].is_object());
    server.set_up().await;
    // It was there as Loopback, which ends with setup.
    assert_eq!(socket.closed().await, 4401);
}

#[tokio::test]
async fn changes_of_credentials_are_told_by_kind() {
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
    // Events are sent in their order: the reader has this one, so the other would have it too.
    assert!(!hears_before_an_answer(&mut other, "auth.changed").await);
}
