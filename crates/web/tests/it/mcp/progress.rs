//! Progress and cancellation of calls.

use super::{Client, MCP};
use gatehouse_doubles::openai::FakeModel;
use gatehouse_testkit::{Actor, Options, Reply, TestServer};
use serde_json::{Value, json};
use std::time::Duration;

const BOTH: [&str; 2] = ["operator.read", "operator.write"];

/// Returns a server, an API key and the model that answers "ok".
async fn asking() -> (TestServer, Actor, FakeModel) {
    let model = FakeModel::start().await;
    let server = TestServer::start(Options::default().model(&model.url, "m1")).await;
    let owner = server.set_up().await;
    let key = server.api_key(&owner, &BOTH).await;
    (server, key, model)
}

fn ask(id: &str, meta: &Value) -> Value {
    let arguments = json!({ "text": "ping" });
    let params = json!({ "name": "ask_agent", "arguments": arguments, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// Returns the messages of a stream of events.
fn messages(reply: &Reply) -> Vec<Value> {
    assert_eq!(reply.status.as_u16(), 200, "{}", reply.text);
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    let events = reply.text.strip_suffix("\n\n").unwrap().split("\n\n");
    let data = |event: &str| {
        let data = event.strip_prefix("event: message\ndata: ").unwrap();
        serde_json::from_str(data).unwrap()
    };
    events.map(data).collect()
}

fn answer_of(message: &Value) -> Value {
    assert_eq!(message["result"]["isError"], false, "{message}");
    super::json_of(&message["result"]["content"][0])
}

#[tokio::test]
async fn a_stream_ends_with_the_key_of_its_request() {
    let model = FakeModel::start().await;
    let server = TestServer::start(Options::default().model(&model.url, "m1")).await;
    let owner = server.set_up().await;
    let body = json!({ "label": "mcp", "scopes": BOTH });
    let made = owner.post("/api/auth/api-keys", body).await.expect(200);
    let client = Client::of(&server.local().bearer(made["key"].as_str().unwrap()));
    model.hold();
    let call = ask("a", &json!({ "progressToken": "t" }));
    let request = client.0.request("POST", MCP).json(&call);
    let mut response = request.send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    model.until(1).await;
    let path = format!("/api/auth/api-keys/{}", made["id"].as_str().unwrap());
    owner.delete(&path).await.expect(200);
    let rest = tokio::time::timeout(Duration::from_secs(20), response.chunk());
    assert!(rest.await.expect("the stream ends").is_err());
    model.release(1);
}

#[tokio::test]
async fn events_are_sent_only_to_clients_that_ask_for_progress() {
    let (_server, key, _model) = asking().await;
    let client = Client::of(&key);
    let reply = client.send(ask("a", &json!({ "progressToken": 7 }))).await;
    let events = messages(&reply);
    let [answered] = &events[..] else {
        panic!("{}", reply.text);
    };
    assert_eq!(answered["id"], "a");
    assert_eq!(answer_of(answered)["text"], "ok");
    // An error is the last message, too.
    let missing = json!({ "jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {
        "name": "get_delivery", "arguments": { "id": "dlv_none" }, "_meta": { "progressToken": 8 } } });
    let reply = client.send(missing).await;
    assert_eq!(messages(&reply)[0]["result"]["isError"], true);

    for meta in [json!({}), json!({ "progressToken": 1.5 }), json!(null)] {
        let reply = client.send(ask("a", &meta)).await;
        assert_eq!(answer_of(&reply.expect(200))["text"], "ok");
    }
    let json_only = key.with("accept", "application/json");
    let reply = json_only.post(MCP, ask("a", &json!({ "progressToken": 9 })));
    assert_eq!(answer_of(&reply.await.expect(200))["text"], "ok");
}

#[tokio::test]
async fn a_client_cancels_its_own_call() {
    let (_server, key, model) = asking().await;
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": super::VERSION, "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } });
    let welcome = Client::of(&key).send(initialize.clone()).await;
    let session = welcome.header("mcp-session-id").unwrap().to_owned();
    let other = Client::of(&key).send(initialize).await;
    let other = other.header("mcp-session-id").unwrap().to_owned();
    assert_ne!(session, other);
    let client = Client::of(&key.clone().with("mcp-session-id", &session));
    let other = Client::of(&key.clone().with("mcp-session-id", &other));

    model.hold();
    let cancelled = |id: &str| {
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": id, "reason": "The user pressed Stop." } })
    };
    let cancel = async {
        model.until(1).await;
        // Neither another program with this key nor another request.
        for (client, id) in [(&other, "a"), (&client, "b"), (&client, "a")] {
            let reply = client.send(cancelled(id)).await;
            assert_eq!((reply.status.as_u16(), reply.text.as_str()), (202, ""));
        }
    };
    let (reply, ()) = tokio::join!(client.send(ask("a", &json!({}))), cancel);
    let stopped = reply.expect(200);
    assert_eq!(stopped["result"]["isError"], true, "{stopped}");
    let error = super::json_of(&stopped["result"]["content"][0]);
    assert_eq!(error["code"], "CONFLICT", "{error}");
    assert!(error["session"].is_string(), "{error}");
}
