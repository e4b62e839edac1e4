//! Limits on time, message size and number of attempts.

use crate::steps::{WRONG_PASSWORD, light_owner, stopped_clock};
use gatehouse_testkit::{Options, TestServer};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const BEFORE_AUTH: usize = 64 * 1024;

/// Returns a `connect` message of exactly this many bytes.
fn connect_of(bytes: usize, secret: &str) -> String {
    let message = |filler: usize| {
        json!({
            "id": 1, "method": "connect",
            "params": { "client": { "id": "x".repeat(filler) }, "auth": { "api_key": secret } },
        })
        .to_string()
    };
    message(bytes - message(0).len())
}

#[tokio::test]
async fn before_authentication_a_message_has_64_kib() {
    let (server, owner) = light_owner(Options::default()).await;
    let key = server.api_key(&owner, &["operator.read"]).await;
    let secret = key.headers()[0].1.trim_start_matches("Bearer ").to_owned();
    let at_limit = connect_of(BEFORE_AUTH, &secret);
    assert_eq!(at_limit.len(), BEFORE_AUTH);
    let mut socket = server.socket(&server.local(), "/ws").await;
    socket.send(at_limit).await;
    assert!(socket.next().await.unwrap()["result"].is_object());
    // After authentication, messages may be long.
    let long = json!({ "x": "y".repeat(1_000_000) });
    let answer = socket.call("system.status", long).await.unwrap();
    assert_eq!(answer["error"]["data"]["code"], "INVALID_PARAMS");
    let mut socket = server.socket(&server.local(), "/ws").await;
    socket.send(connect_of(BEFORE_AUTH + 1, &secret)).await;
    let answer = socket.next().await.unwrap();
    assert_eq!(
        answer["error"]["data"]["code"], "PAYLOAD_TOO_LARGE",
        "{answer}"
    );
    assert_eq!(answer["error"]["data"]["max_bytes"], BEFORE_AUTH);
    // 1009 is RFC 6455's close code for a message that is too big.
    assert_eq!(socket.closed().await, 1009);
}

#[tokio::test]
async fn a_flood_before_authentication_is_cut() {
    let (server, _owner) = light_owner(Options::default()).await;
    let mut socket = server.socket(&server.local(), "/ws").await;
    let frame = tokio_tungstenite::tungstenite::Message::text("x".repeat(8 * 1024 * 1024));
    // The server may close the connection before everything is written.
    drop(socket.send_frame(frame).await);
    let code = socket.closed().await;
    assert!(matches!(code, 4400 | 1006 | 1009), "{code}");
    server.local().get("/health").await.expect(200);
}

#[tokio::test]
async fn connect_comes_within_ten_seconds() {
    let clock = stopped_clock();
    let (server, owner) = light_owner(Options::default().clock(Arc::clone(&clock))).await;
    let mut silent = server.socket(&server.local(), "/ws").await;
    let mut known = server.socket(&owner, "/ws").await;
    clock.advance(Duration::from_millis(9_999));
    assert!(known.call("system.status", json!({})).await.unwrap()["result"].is_object());
    clock.advance(Duration::from_millis(1));
    let answer = silent.next().await.unwrap();
    assert_eq!(answer["error"]["data"]["code"], "TIMEOUT");
    assert_eq!(silent.closed().await, 4408);
    assert!(known.call("system.status", json!({})).await.unwrap()["result"].is_object());
}

#[tokio::test]
async fn wrong_connects_have_their_own_counter() {
    let clock = stopped_clock();
    let server = TestServer::start(Options::default().clock(Arc::clone(&clock))).await;
    let owner = server.set_up().await;
    let key = server.api_key(&owner, &["operator.read"]).await;
    let secret = key.headers()[0].1.trim_start_matches("Bearer ").to_owned();
    let connect = async |auth: serde_json::Value| {
        let mut socket = server.socket(&server.local(), "/ws").await;
        let answer = socket.connect(auth).await.unwrap();
        let code = answer["error"]["data"]["code"]
            .as_str()
            .unwrap_or("ok")
            .to_owned();
        let close = if code == "ok" {
            0
        } else {
            socket.closed().await
        };
        (code, close)
    };
    // Correct credentials are not counted.
    for _ in 0..6 {
        assert_eq!(
            connect(json!({ "api_key": secret })).await,
            ("ok".into(), 0)
        );
    }
    for number in 0..5 {
        let auth = if number % 2 == 0 {
            json!({ "password": WRONG_PASSWORD })
        } else {
            json!({ "api_key": "mk_wrong" })
        };
        assert_eq!(
            connect(auth).await,
            ("INVALID_CREDENTIALS".into(), 4401),
            "{number}"
        );
    }
    assert_eq!(
        connect(json!({ "password": WRONG_PASSWORD })).await,
        ("RATE_LIMITED".into(), 4429)
    );
    // The right password gets the same refusal, so it is not revealed.
    assert_eq!(
        connect(json!({ "password": gatehouse_testkit::PASSWORD })).await,
        ("RATE_LIMITED".into(), 4429)
    );
    // The login endpoint has its own counter.
    crate::steps::log_in(&server.local(), gatehouse_testkit::PASSWORD)
        .await
        .expect(200);
    clock.advance(crate::steps::PATIENT);
    assert_eq!(
        connect(json!({ "password": gatehouse_testkit::PASSWORD })).await,
        ("ok".into(), 0)
    );
}

#[tokio::test]
async fn a_binary_message_is_refused() {
    let (server, owner) = light_owner(Options::default()).await;
    let mut socket = server.socket(&owner, "/ws").await;
    let frame = tokio_tungstenite::tungstenite::Message::binary(vec![1, 2, 3]);
    socket.send_frame(frame).await.unwrap();
    assert_eq!(
        socket.next().await.unwrap()["error"]["data"]["code"],
        "INVALID_REQUEST"
    );
    assert_eq!(socket.closed().await, 4400);
}

#[tokio::test]
async fn the_server_s_shutdown_is_announced() {
    let (mut server, owner) = light_owner(Options::default()).await;
    let mut socket = server.socket(&owner, "/ws").await;
    socket.call("system.status", json!({})).await.unwrap();
    let (code, _database) = tokio::join!(socket.closed(), server.stop());
    assert_eq!(code, 1012);
}
