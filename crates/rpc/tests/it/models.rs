//! `models.*`, and `providers.*` with a reachable provider.

use crate::harness::Harness;
use gatehouse_domain::Scope;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

/// Starts a server on this machine that sends the same response to every request. Returns its base URL.
async fn server(status: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let tasks = TaskTracker::new();
    tasks.spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(socket.read_u8().await.unwrap());
            }
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n\
                 content-length: {}\r\n\r\n{body}",
                body.len()
            );
            socket.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    format!("http://{address}/v1")
}

async fn harness_with(base_url: &str) -> Harness {
    let harness = Harness::new().await;
    let set = json!({ "key": "models.providers.near.base_url", "value": base_url });
    harness.call("config.set", set).await;
    harness
}

#[tokio::test]
async fn models_are_listed_in_pages() {
    let url = server(
        "200 OK",
        r#"{"data":[{"id":"b","max_model_len":9},{"id":"a"}]}"#,
    )
    .await;
    let harness = harness_with(&url).await;
    let page = harness.call("models.list", json!({ "limit": 1 })).await;
    let a = json!({ "id": "near/a", "provider": "near", "name": "a" });
    assert_eq!(page, json!({ "models": [a], "next_cursor": "near/a" }));
    let next = json!({ "limit": 1, "cursor": "near/a" });
    let page = harness.call("models.list", next).await;
    let b = json!({ "id": "near/b", "provider": "near", "name": "b", "context": 9 });
    assert_eq!(page["models"], json!([b]));
    let refused = harness.refusal("models.list", json!({ "limit": 0 })).await;
    assert_eq!(refused["field"], "limit");
}

#[tokio::test]
async fn a_provider_on_this_machine_needs_no_key() {
    let harness = harness_with("http://127.0.0.1:9/v1").await;
    let listed = harness.call("providers.list", json!({})).await;
    let all = listed["providers"].as_array().unwrap();
    let near = all.iter().find(|provider| provider["id"] == "near");
    let expected = json!({
        "id": "near",
        "kind": "openai",
        "base_url": "http://127.0.0.1:9/v1",
        "configured": true,
        "detected": false,
    });
    assert_eq!(near, Some(&expected));
}

#[tokio::test]
async fn a_provider_is_tested() {
    let near = json!({ "id": "near" });
    let harness = harness_with(&server("200 OK", r#"{"data":[{"id":"a"}]}"#).await).await;
    let tested = harness.call("providers.test", near.clone()).await;
    assert_eq!(tested, json!({ "ok": true, "latency_ms": 0, "models": 1 }));
    let data: Value = harness
        .refusal("providers.test", json!({ "id": "nobody" }))
        .await;
    assert_eq!(data["code"], "NOT_FOUND");
    let data = harness
        .refusal("providers.test", json!({ "id": "openai" }))
        .await;
    assert_eq!(
        (&data["code"], &data["what"]),
        (
            &json!("NOT_CONFIGURED"),
            &json!("models.providers.openai.api_key")
        )
    );
    let harness = harness_with(&server("401 Unauthorized", r#"{"error":"SECRET"}"#).await).await;
    let answer = harness
        .ask(&harness.context(&[]).await, "providers.test", near.clone())
        .await;
    let data = &answer["error"]["data"];
    assert_eq!(data["code"], "PROVIDER_FAILED");
    assert_eq!(
        (&data["provider"], &data["retryable"]),
        (&json!("near"), &json!(false))
    );
    assert!(!answer.to_string().contains("SECRET"));
    let reader = harness.holder_of(&[Scope::Read]).await;
    let answer = harness.ask(&reader, "providers.test", near).await;
    assert_eq!(answer["error"]["data"]["required_scope"], "operator.write");
}

#[tokio::test]
async fn a_key_is_tested_without_being_stored() {
    let harness = harness_with(&server("200 OK", r#"{"data":[{"id":"a"}]}"#).await).await;
    for (key, fits) in [
        (" sk-new ".to_owned(), true),
        ("k".repeat(4096), true),
        ("k".repeat(4097), false),
        (String::new(), false),
        ("sk new".to_owned(), false),
    ] {
        let params = json!({ "id": "near", "key": key });
        if fits {
            let tested = harness.call("providers.test", params).await;
            assert_eq!(tested["models"], 1, "{key}");
        } else {
            let refused = harness.refusal("providers.test", params).await;
            assert_eq!(refused["field"], "key", "{key}");
        }
    }
    let listed = harness.call("providers.list", json!({})).await;
    let all = listed["providers"].as_array().unwrap();
    assert!(all.iter().all(|one| one["key_hint"].is_null()), "{listed}");
}
