//! The transport and the messages.

use super::{Client, MCP, VERSION, client};
use crate::steps::light_owner;
use gatehouse_testkit::{Actor, Options, Reply, TestServer};
use serde_json::{Value, json};

async fn caller() -> (TestServer, Actor) {
    let (server, owner) = light_owner(Options::default()).await;
    let key = server.api_key(&owner, &["operator.read"]).await;
    (server, key)
}

fn request(id: impl Into<Value>, method: &str) -> Value {
    let params = json!({ "protocolVersion": VERSION, "capabilities": {}, "_meta": {},
        "clientInfo": { "name": "test", "version": "1" } });
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

/// Asserts that a message is refused as a whole; returns the code.
#[track_caller]
fn refused(reply: &Reply, status: u16) -> Value {
    let body = reply.expect(status);
    assert_eq!(body["jsonrpc"], "2.0", "{body}");
    assert_eq!(body["id"], Value::Null, "{body}");
    body["error"]["code"].clone()
}

#[tokio::test]
async fn a_client_initializes_and_finds_the_tools() {
    let (server, owner) = light_owner(Options::default()).await;
    let client = client(&server, &owner, &["operator.admin"]).await;
    let welcome = client.send(request(0, "initialize")).await;
    assert_eq!(welcome.header("mcp-session-id").unwrap().len(), 22);
    let welcome = welcome.expect(200);
    assert_eq!(welcome["id"], 0);
    let result = &welcome["result"];
    assert_eq!(result["protocolVersion"], VERSION, "{welcome}");
    assert_eq!(
        result["capabilities"],
        json!({ "tools": { "listChanged": false } })
    );
    assert_eq!(result["serverInfo"]["name"], "gatehouse");
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let ready = client.send(ready).await;
    assert_eq!((ready.status.as_u16(), ready.text.as_str()), (202, ""));
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    let listed = client.ask("tools/list", json!({ "cursor": null })).await;
    for tool in listed["result"]["tools"].as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert!(
            tool["description"].as_str().unwrap().ends_with('.'),
            "{tool}"
        );
        assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
    }
}

#[tokio::test]
async fn the_version_is_negotiated() {
    let (_server, key) = caller().await;
    for (asked, given) in [
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        ("2026-07-28", "2025-06-18"),
        ("1.0", "2025-06-18"),
    ] {
        let mut initialize = request(1, "initialize");
        initialize["params"]["protocolVersion"] = json!(asked);
        // The header counts from the second request on.
        let client = key.clone().with("mcp-protocol-version", "unknown");
        let welcome = client.post(MCP, initialize).await.expect(200);
        assert_eq!(welcome["result"]["protocolVersion"], given, "{asked}");
    }
    let bare = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize" });
    let refused = key.post(MCP, bare).await.expect(200);
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

#[tokio::test]
async fn the_header_names_a_known_version() {
    let (_server, key) = caller().await;
    key.post(MCP, request(1, "ping")).await.expect(200);
    for known in ["2025-06-18", "2025-03-26", "2024-11-05"] {
        let client = key.clone().with("mcp-protocol-version", known);
        client.post(MCP, request(1, "ping")).await.expect(200);
    }
    for unknown in ["2026-07-28", "", "2025-06-18,2025-03-26"] {
        let client = key.clone().with("mcp-protocol-version", unknown);
        let reply = client.post(MCP, request(1, "ping")).await;
        assert_eq!(refused(&reply, 400), -32600, "{unknown}");
        let supported = &reply.json()["error"]["data"]["supported"];
        assert_eq!(supported[0], VERSION, "{unknown}");
    }
}

#[tokio::test]
async fn there_is_no_stream_without_a_call_and_no_session_to_end() {
    let (_server, key) = caller().await;
    let key = key.with("accept", "text/event-stream");
    for method in ["GET", "DELETE", "PUT"] {
        let reply = key.send(method, MCP, None).await;
        reply.refused(405, "METHOD_NOT_ALLOWED");
        assert_eq!(reply.header("allow"), Some("POST"), "{method}");
    }
}

#[tokio::test]
async fn what_the_client_accepts_includes_json() {
    let (_server, key) = caller().await;
    for accept in [
        "*/*",
        "application/json",
        "text/event-stream, application/json",
    ] {
        let client = key.clone().with("accept", accept);
        client.post(MCP, request(1, "ping")).await.expect(200);
    }
    for accept in ["text/event-stream", "text/html"] {
        let client = key.clone().with("accept", accept);
        let reply = client.post(MCP, request(1, "ping")).await;
        assert_eq!(refused(&reply, 406), -32600, "{accept}");
    }
    let ping = request(1, "ping").to_string();
    let reply = key.send_bytes("POST", MCP, Some("text/plain"), ping).await;
    reply.refused(415, "UNSUPPORTED_MEDIA_TYPE");
}

#[tokio::test]
async fn batches_belong_to_one_version() {
    let (_server, key) = caller().await;
    let batch = json!([
        request(1, "ping"),
        { "jsonrpc": "2.0", "method": "notifications/cancelled" },
        request(2, "initialize"),
        request("three", "no/such"),
        7,
    ]);
    for version in ["2025-06-18", "2024-11-05"] {
        let client = key.clone().with("mcp-protocol-version", version);
        let reply = client.post(MCP, batch.clone()).await;
        assert_eq!(refused(&reply, 400), -32600, "{version}");
    }
    let client = key.clone().with("mcp-protocol-version", "2025-03-26");
    for client in [&client, &key] {
        let answers = client.post(MCP, batch.clone()).await.expect(200);
        let all = answers.as_array().unwrap();
        let of = |member: &str| {
            all.iter()
                .map(|answer| answer[member].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(of("id"), [json!(1), json!(2), json!("three"), Value::Null]);
        let codes: Vec<_> = all
            .iter()
            .map(|answer| answer["error"]["code"].clone())
            .collect();
        assert_eq!(
            codes,
            [Value::Null, json!(-32600), json!(-32601), json!(-32600)]
        );
    }
    let notes = json!([{ "jsonrpc": "2.0", "method": "notifications/initialized" }]);
    assert_eq!(key.post(MCP, notes).await.status.as_u16(), 202);
}

#[tokio::test]
async fn a_message_that_is_none_is_refused() {
    let (_server, key) = caller().await;
    let client = Client::of(&key);
    for (body, code) in [
        ("{", -32700),
        ("", -32700),
        ("7", -32600),
        ("[]", -32600),
        ("{}", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        // The server asks the client nothing, so no response is expected.
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, -32600),
    ] {
        let reply = client
            .0
            .send_bytes("POST", MCP, Some("application/json"), body)
            .await;
        assert_eq!(refused(&reply, 400), code, "{body}");
    }
    let unknown = client.refusal("resources/list", json!({})).await;
    assert_eq!(unknown, (-32601, "METHOD_NOT_FOUND".to_owned()));
    // The methods of JSON-RPC are tools here and nothing else.
    let method = client.refusal("webhooks.deliveries", json!({})).await.0;
    assert_eq!(method, -32601);
    for params in [
        json!({}),
        json!([]),
        json!({ "name": 7 }),
        json!({ "name": "no_such" }),
    ] {
        let refused = client.refusal("tools/call", params.clone()).await;
        assert_eq!(refused, (-32602, "INVALID_PARAMS".to_owned()), "{params}");
    }
    let null = json!({ "jsonrpc": "2.0", "id": null, "method": "ping" });
    let null = client.send(null).await.expect(200);
    assert_eq!(null["error"]["code"], -32600, "{null}");
}

/// A notification has no response, so it calls no tool.
#[tokio::test]
async fn a_notification_calls_no_tool() {
    let (server, owner) = light_owner(Options::default()).await;
    let client = client(&server, &owner, &["operator.write"]).await;
    let params = json!({ "name": "send_message", "arguments": { "target": "inbox", "text": "x" } });
    let call = json!({ "jsonrpc": "2.0", "method": "tools/call", "params": params });
    assert_eq!(client.send(call).await.status.as_u16(), 202);
    let inbox = owner.rpc("inbox.list", json!({})).await.unwrap();
    assert_eq!(inbox["messages"], json!([]));
}
