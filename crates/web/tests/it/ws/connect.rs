//! The upgrade, and `connect`.

use crate::steps::{WRONG_PASSWORD, light_owner};
use gatehouse_testkit::{Options, PASSWORD, Socket, TestServer};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

fn secret_of(key: &gatehouse_testkit::Actor) -> String {
    key.headers()[0].1.trim_start_matches("Bearer ").to_owned()
}

#[tokio::test]
async fn by_key_by_password_by_cookie_by_bearer() {
    let (server, owner) = TestServer::with_owner().await;
    let key = server.api_key(&owner, &["operator.read"]).await;
    let mut by_key = server.socket(&server.local(), "/ws").await;
    let hello = by_key
        .connect(json!({ "api_key": secret_of(&key) }))
        .await
        .unwrap();
    assert_eq!(
        hello["result"]["identity"],
        json!({ "method": "ApiKey", "scopes": ["operator.read"] })
    );
    let mut by_password = server.socket(&server.remote(), "/ws").await;
    let hello = by_password
        .connect(json!({ "password": PASSWORD }))
        .await
        .unwrap();
    assert_eq!(hello["result"]["identity"]["method"], "Password");
    for path in ["/ws", "/ws/chat"] {
        for (caller, method) in [(&owner, "Password"), (&key, "ApiKey")] {
            let mut socket = server.socket(caller, path).await;
            // An authenticated client may call methods immediately, and may also call `connect`.
            assert!(socket.call("system.status", json!({})).await.unwrap()["result"].is_object());
            let hello = socket.connect(json!({})).await.unwrap();
            assert_eq!(hello["result"]["identity"]["method"], method);
        }
    }
    let fresh = TestServer::fresh().await;
    let mut local = fresh.socket(&fresh.local(), "/ws").await;
    let hello = local.connect(json!({})).await.unwrap();
    assert_eq!(hello["result"]["identity"]["method"], "Loopback");
}

#[tokio::test]
async fn hello_tells_what_there_is() {
    let (server, owner) = light_owner(Options::default()).await;
    let mut socket = server.socket(&owner, "/ws").await;
    let hello = socket.connect(json!({})).await.unwrap()["result"].clone();
    assert_eq!(hello["protocol"], 1);
    assert!(hello["server"]["name"].is_string() && hello["server"]["version"].is_string());
    assert_eq!(
        hello["limits"],
        json!({ "max_message_bytes": 36 * 1024 * 1024, "heartbeat_seconds": 30 })
    );
    let lists = |name: &str| hello[name].as_array().unwrap().clone();
    assert!(lists("methods").contains(&json!("env.set")));
    assert!(
        lists("events").contains(&json!("vault.status"))
            && lists("events").contains(&json!("auth.changed"))
    );
    assert_eq!(
        (&hello["vault_status"], &hello["voice_enabled"]),
        (&json!("uninitialized"), &json!(true))
    );
}

#[tokio::test]
async fn the_message_may_be_short_and_may_know_more() {
    let (server, owner) = light_owner(Options::default()).await;
    let secret = secret_of(&server.api_key(&owner, &["operator.read"]).await);
    for message in [
        json!({ "method": "connect", "params": { "auth": { "api_key": secret } } }),
        json!({ "method": "connect", "id": "a", "params": { "client": { "id": "x", "version": "1", "platform": "y" }, "auth": { "api_key": secret } }, "more": 1 }),
        json!({ "jsonrpc": "2.0", "id": 7, "method": "connect", "params": { "client": {}, "auth": { "api_key": secret } } }),
    ] {
        let mut socket = server.socket(&server.local(), "/ws").await;
        socket.send(message.to_string()).await;
        let answer = socket.next().await.unwrap();
        assert!(answer["result"]["identity"].is_object(), "{answer}");
        assert_eq!(
            answer.get("id"),
            Some(message.get("id").unwrap_or(&Value::Null))
        );
    }
}

#[tokio::test]
async fn a_refusal_is_an_answer_and_then_a_code() {
    let (server, owner) = light_owner(Options::default()).await;
    let fresh = TestServer::fresh().await;
    let connect = |auth: Value| {
        json!({ "id": 1, "method": "connect", "params": { "auth": auth } }).to_string()
    };
    for (message, code, close) in [
        (
            connect(json!({ "api_key": "mk_wrong" })),
            "INVALID_CREDENTIALS",
            4401,
        ),
        (
            connect(json!({ "password": WRONG_PASSWORD })),
            "INVALID_CREDENTIALS",
            4401,
        ),
        (connect(json!({})), "AUTH_NOT_AUTHENTICATED", 4401),
        (
            r#"{"id":1,"method":"connect"}"#.to_owned(),
            "AUTH_NOT_AUTHENTICATED",
            4401,
        ),
        (
            r#"{"id":1,"method":"system.status"}"#.to_owned(),
            "AUTH_NOT_AUTHENTICATED",
            4401,
        ),
        ("not json".to_owned(), "PARSE_ERROR", 4400),
        ("[]".to_owned(), "INVALID_REQUEST", 4400),
        (
            r#"[{"id":1,"method":"connect"}]"#.to_owned(),
            "INVALID_REQUEST",
            4400,
        ),
        (
            r#"{"id":1,"method":"connect","params":{"auth":7}}"#.to_owned(),
            "INVALID_PARAMS",
            4400,
        ),
        (
            r#"{"id":1,"method":"connect","params":{"auth":{"api_key":7}}}"#.to_owned(),
            "INVALID_PARAMS",
            4400,
        ),
        (r#"{"id":1,"method":7}"#.to_owned(), "INVALID_REQUEST", 4400),
    ] {
        let mut socket = server.socket(&server.local(), "/ws").await;
        socket.send(message.clone()).await;
        let answer = socket.next().await.unwrap();
        assert_eq!(answer["error"]["data"]["code"], code, "{message}: {answer}");
        assert_eq!(socket.closed().await, close, "{message}");
    }
    // Before setup, no credential helps a remote caller.
    let mut socket = fresh.socket(&fresh.remote(), "/ws").await;
    let answer = socket
        .connect(json!({ "password": PASSWORD }))
        .await
        .unwrap();
    assert_eq!(answer["error"]["data"]["code"], "AUTH_SETUP_REQUIRED");
    assert_eq!(socket.closed().await, 4401);
    // A stale cookie requires `connect` on /ws and is refused on /ws/chat.
    let stale = server.local().session("stale");
    let secret = secret_of(&server.api_key(&owner, &["operator.read"]).await);
    let mut socket = server.socket(&stale, "/ws").await;
    assert!(socket.connect(json!({ "api_key": secret })).await.unwrap()["result"].is_object());
    assert_eq!(Socket::open(&stale, "/ws/chat").await.err(), Some(401));
}

#[tokio::test]
async fn a_request_without_an_upgrade_is_refused_with_a_reason() {
    let (server, owner) = light_owner(Options::default()).await;
    for path in ["/ws", "/ws/chat"] {
        owner.get(path).await.refused(400, "INVALID_REQUEST");
    }
    owner
        .post("/ws", json!({}))
        .await
        .refused(405, "METHOD_NOT_ALLOWED");
    owner.get("/ws/nothing").await.refused(404, "NOT_FOUND");
    server
        .local()
        .get("/ws/nothing")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
}

#[tokio::test]
async fn a_client_that_closes_gets_its_close_code_back() {
    let (server, owner) = light_owner(Options::default()).await;
    for code in [1000_u16, 4000] {
        let mut socket = server.socket(&owner, "/ws").await;
        socket.call("system.status", json!({})).await.unwrap();
        let frame = CloseFrame {
            code: code.into(),
            reason: "done".into(),
        };
        let close = Message::Close(Some(frame));
        socket.send_frame(close).await.unwrap();
        assert_eq!(socket.closed().await, code);
    }
}
