//! JSON-RPC 2.0 over HTTP: single calls, batches, notifications, and invalid messages.

use crate::steps::light_owner;
use gatehouse_testkit::{Actor, Options};
use serde_json::{Value, json};

const JSON: Option<&str> = Some("application/json");

async fn call(owner: &Actor, body: impl Into<Vec<u8>>) -> Value {
    owner
        .send_bytes("POST", "/api/rpc", JSON, body)
        .await
        .expect(200)
}

#[tokio::test]
async fn an_envelope_may_be_short() {
    let (_server, owner) = light_owner(Options::default()).await;
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"method":"system.status","params":{}}"#,
        r#"{"id":1,"method":"system.status"}"#,
        r#"{"id":1,"method":"system.status","params":null,"extra":true}"#,
        r#" {"id":1,"method":"system.status","params":{}}  "#,
    ] {
        let answer = call(&owner, body).await;
        assert_eq!(
            (&answer["jsonrpc"], &answer["id"]),
            (&json!("2.0"), &json!(1))
        );
        assert!(answer["result"]["version"].is_string(), "{answer}");
    }
    for id in ["\"text\"", "17", "-1.5", "null", "\"\\u00e9\""] {
        let answer = call(&owner, format!(r#"{{"id":{id},"method":"system.status"}}"#)).await;
        assert_eq!(answer["id"], serde_json::from_str::<Value>(id).unwrap());
    }
}

#[tokio::test]
async fn errors_are_200_with_an_error_inside() {
    let (_server, owner) = light_owner(Options::default()).await;
    for (body, number, code) in [
        ("{", -32700, "PARSE_ERROR"),
        ("", -32700, "PARSE_ERROR"),
        ("\"text\"", -32600, "INVALID_REQUEST"),
        ("[]", -32600, "INVALID_REQUEST"),
        (r#"{"id":1}"#, -32600, "INVALID_REQUEST"),
        (
            r#"{"id":{},"method":"system.status"}"#,
            -32600,
            "INVALID_REQUEST",
        ),
        (r#"{"id":1,"method":7}"#, -32600, "INVALID_REQUEST"),
        (r#"{"id":1,"method":"no.such"}"#, -32601, "METHOD_NOT_FOUND"),
        (
            r#"{"id":1,"method":"system.status","params":[1]}"#,
            -32602,
            "INVALID_PARAMS",
        ),
        (
            r#"{"id":1,"method":"system.status","params":{"x":1}}"#,
            -32602,
            "INVALID_PARAMS",
        ),
        (
            r#"{"id":1,"method":"env.set","params":{"key":"A"}}"#,
            -32602,
            "INVALID_PARAMS",
        ),
        (
            r#"{"id":1,"method":"env.set","params":{"key":"A","value":1}}"#,
            -32602,
            "INVALID_PARAMS",
        ),
    ] {
        let answer = call(&owner, body).await;
        assert_eq!(
            (&answer["error"]["code"], &answer["error"]["data"]["code"]),
            (&json!(number), &json!(code)),
            "{body}: {answer}"
        );
        assert!(answer["error"]["message"].is_string() && answer.get("result").is_none());
    }
    let answer = call(
        &owner,
        r#"{"id":1,"method":"env.set","params":{"key":"A"}}"#,
    )
    .await;
    assert_eq!(answer["error"]["data"]["field"], "value");
    let answer = call(
        &owner,
        r#"{"id":1,"method":"env.set","params":{"key":"A","value":"b","colour":1}}"#,
    )
    .await;
    assert_eq!(answer["error"]["data"]["field"], "colour");
    let reply = owner
        .send_bytes(
            "POST",
            "/api/rpc",
            JSON,
            b"{\"id\":1,\"method\":\"\xff\"}".to_vec(),
        )
        .await;
    assert_eq!(reply.expect(200)["error"]["data"]["code"], "PARSE_ERROR");
}

#[tokio::test]
async fn a_batch_holds_sixty_four() {
    let (_server, owner) = light_owner(Options::default()).await;
    let batch = |size: usize| {
        let calls: Vec<Value> = (0..size)
            .map(|id| json!({ "id": id, "method": "system.status" }))
            .collect();
        Value::from(calls).to_string()
    };
    for size in [1, 64] {
        let answer = call(&owner, batch(size)).await;
        let mut ids: Vec<u64> = answer
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].as_u64().unwrap())
            .collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..size as u64).collect::<Vec<_>>());
    }
    let answer = call(&owner, batch(65)).await;
    assert_eq!(answer["error"]["data"]["code"], "INVALID_REQUEST");
    let mixed = json!([
        { "id": 1, "method": "system.status" }, 7, { "id": 2, "method": "no.such" },
        { "method": "system.status" },
    ]);
    let answer = call(&owner, mixed.to_string()).await;
    let answers = answer.as_array().unwrap();
    assert_eq!(answers.len(), 3, "{answer}");
    assert_eq!(
        answers
            .iter()
            .filter(|one| one["error"].is_object())
            .count(),
        2
    );
}

#[tokio::test]
async fn a_notification_is_done_and_not_answered() {
    let (_server, owner) = light_owner(Options::default()).await;
    let body = json!({ "method": "env.set", "params": { "key": "A", "value": "b" } });
    let reply = owner.post("/api/rpc", body.clone()).await;
    assert_eq!((reply.status.as_u16(), reply.text.as_str()), (204, ""));
    let reply = owner
        .post("/api/rpc", json!([body, { "method": "no.such" }]))
        .await;
    assert_eq!(reply.status, 204);
    let listed = owner.rpc("env.list", json!({})).await.unwrap();
    assert_eq!(listed["env_variables"][0]["key"], "A");
}

#[tokio::test]
async fn the_layers_above_answer_in_http() {
    let (server, owner) = light_owner(Options::default()).await;
    server
        .local()
        .rpc_reply("system.status", json!({}))
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
    let page = owner.clone().with("origin", "https://evil.example");
    page.rpc_reply("system.status", json!({}))
        .await
        .refused(403, "FORBIDDEN");
    let reply = owner
        .send_bytes("POST", "/api/rpc", Some("text/plain"), "{}")
        .await;
    reply.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    let reply = owner.get("/api/rpc").await;
    reply.refused(405, "METHOD_NOT_ALLOWED");
    assert_eq!(reply.header("allow"), Some("POST"));
    // Larger than other bodies, but within the message limit of a socket.
    let big = json!({ "id": 1, "method": "system.status", "params": { "x": "y".repeat(200_000) } });
    assert_eq!(
        owner.post("/api/rpc", big).await.expect(200)["error"]["data"]["code"],
        "INVALID_PARAMS"
    );
}

#[tokio::test]
async fn every_answer_has_a_request_id() {
    let (server, owner) = light_owner(Options::default()).await;
    let mut ids = std::collections::BTreeSet::new();
    for path in [
        "/",
        "/health",
        "/api/gon",
        "/api/nothing",
        "/assets/nothing",
        "//",
        "/api/auth/status",
    ] {
        for actor in [&owner, &server.local()] {
            let reply = actor.get(path).await;
            let id = reply.header("x-request-id").unwrap_or_default().to_owned();
            assert!(!id.is_empty() && ids.insert(id), "{path}");
        }
    }
}
