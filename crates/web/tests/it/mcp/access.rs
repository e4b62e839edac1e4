//! Who may use which tool.

use super::{Client, MCP, client};
use crate::steps::light_owner;
use gatehouse_doubles::openai::FakeModel;
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::{Value, json};

const READING: [&str; 5] = [
    "list_deliveries",
    "get_delivery",
    "get_delivery_payload",
    "list_channels",
    "list_agents",
];
#[cfg(feature = "voice")]
const WRITING: &[&str] = &[
    "replay_delivery",
    "send_message",
    "ask_agent",
    "speak",
    "transcribe",
];
#[cfg(not(feature = "voice"))]
const WRITING: &[&str] = &["replay_delivery", "send_message", "ask_agent"];

fn ping() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })
}

async fn limited(server: &TestServer, owner: &Actor, only: Value) -> Client {
    let body = json!({ "label": "mcp", "scopes": ["operator.admin"], "only": only });
    let made = owner.post("/api/auth/api-keys", body).await.expect(200);
    Client::of(&server.local().bearer(made["key"].as_str().unwrap()))
}

#[tokio::test]
async fn without_a_credential_mcp_is_closed() {
    let (server, owner) = light_owner(Options::default()).await;
    let wrong = server.local().bearer("mk_wrong");
    for actor in [server.local(), server.remote(), wrong] {
        let refused = actor.post(MCP, ping()).await;
        refused.refused(401, "AUTH_NOT_AUTHENTICATED");
        assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
        for method in ["GET", "DELETE"] {
            let refused = actor.send(method, MCP, None).await;
            refused.refused(401, "AUTH_NOT_AUTHENTICATED");
        }
    }
    // The owner's browser is a caller as well.
    owner.post(MCP, ping()).await.expect(200);
    let key = server.api_key(&owner, &["operator.read"]).await;
    key.post(MCP, ping()).await.expect(200);
}

#[tokio::test]
async fn a_key_that_ended_during_a_call_gets_no_result() {
    let model = FakeModel::start().await;
    model.hold();
    let server = TestServer::start(Options::default().model(&model.url, "m1")).await;
    let owner = server.set_up().await;
    let keys = "/api/auth/api-keys";
    let body = json!({ "label": "mcp", "scopes": ["operator.write"] });
    let made = owner.post(keys, body).await.expect(200);
    let client = Client::of(&server.local().bearer(made["key"].as_str().unwrap()));
    let ask = json!({ "name": "ask_agent", "arguments": { "agent": "default", "text": "Hi." } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ask });
    let ending = async {
        model.until(1).await;
        let path = format!("{keys}/{}", made["id"].as_str().unwrap());
        owner.delete(&path).await.expect(200);
        model.release(10);
    };
    let (reply, ()) = tokio::join!(client.send(call), ending);
    reply.refused(401, "AUTH_NOT_AUTHENTICATED");
}

#[tokio::test]
async fn tools_are_those_of_the_scopes() {
    let (server, owner) = light_owner(Options::default()).await;
    let none = client(&server, &owner, &["operator.pairing"]).await;
    assert!(none.tools().await.is_empty());
    let reader = client(&server, &owner, &["operator.read"]).await;
    assert_eq!(reader.tools().await, READING);
    let writer = client(&server, &owner, &["operator.write"]).await;
    assert_eq!(writer.tools().await, WRITING);
    let admin = client(&server, &owner, &["operator.admin"]).await;
    let all = admin.tools().await;
    assert_eq!(all.len(), READING.len() + WRITING.len());
    for (client, tools) in [
        (&none, &READING[..]),
        (&none, WRITING),
        (&reader, WRITING),
        (&writer, &READING[..]),
    ] {
        for tool in tools {
            let params = json!({ "name": tool, "arguments": {} });
            let refused = client.refusal("tools/call", params).await;
            assert_eq!(refused, (-32004, "FORBIDDEN".to_owned()), "{tool}");
        }
    }
}

#[tokio::test]
async fn only_limits_the_tools_to_their_methods() {
    let (server, owner) = light_owner(Options::default()).await;
    let only = json!(["webhooks.deliveries", "channels.*"]);
    let key = limited(&server, &owner, only).await;
    let expected = ["list_deliveries", "list_channels", "send_message"];
    assert_eq!(key.tools().await, expected);
    key.use_tool("list_deliveries", json!({})).await;
    for tool in ["get_delivery", "list_agents", "ask_agent"] {
        let response = key.call(tool, json!({})).await;
        let data = &response["error"]["data"];
        assert_eq!(data["code"], "FORBIDDEN", "{tool}: {response}");
        assert_eq!(data["required"], "only", "{tool}: {response}");
    }
    // The endpoint only carries calls, so it is nothing that `only` can name.
    let body = json!({ "label": "x", "scopes": ["operator.read"], "only": [MCP] });
    let refused = owner.post("/api/auth/api-keys", body).await;
    refused.refused(400, "INVALID_PARAMS");
}

#[tokio::test]
async fn a_revoked_key_ends_at_once() {
    let (server, owner) = light_owner(Options::default()).await;
    let body = json!({ "label": "mcp", "scopes": ["operator.write"] });
    let made = owner.post("/api/auth/api-keys", body).await.expect(200);
    let key = Client::of(&server.local().bearer(made["key"].as_str().unwrap()));
    let message = json!({ "target": "inbox", "text": "one" });
    key.use_tool("send_message", message).await;
    let path = format!("/api/auth/api-keys/{}", made["id"].as_str().unwrap());
    owner.delete(&path).await.expect(200);
    let params =
        json!({ "name": "send_message", "arguments": { "target": "inbox", "text": "two" } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let refused = key.send(call).await;
    refused.refused(401, "AUTH_NOT_AUTHENTICATED");
    let inbox = owner.rpc("inbox.list", json!({})).await.unwrap();
    assert_eq!(inbox["messages"].as_array().unwrap().len(), 1, "{inbox}");
}

/// MCP requires servers to check the Origin of every request against DNS rebinding, including those with a key.
#[tokio::test]
async fn a_page_of_another_site_is_refused() {
    let (server, owner) = light_owner(Options::default()).await;
    let key = server.api_key(&owner, &["operator.read"]).await;
    for actor in [&owner, &key] {
        for origin in ["https://evil.example", "null", "http://127.0.0.1:1"] {
            let page = actor.clone().with("origin", origin);
            let refused = page.post(MCP, ping()).await;
            refused.refused(403, "FORBIDDEN");
        }
        let own = format!("http://{}", server.local().address());
        let page = actor.clone().with("origin", &own);
        page.post(MCP, ping()).await.expect(200);
    }
}
