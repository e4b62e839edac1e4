//! Secrets in requests to MCP servers over HTTP: in headers and in the path.

use crate::harness::{Harness, serve};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode, Uri, header};
use gatehouse_config::{McpServer, ToolSecret};
use gatehouse_domain::Actor;
use gatehouse_tools::{McpState, McpStatus, ToolsSettings};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use url::Url;

const TOKEN: &str = "sk_live_1/2+\"3\"&<4>";

#[derive(Clone, Debug)]
struct Request {
    path: String,
    headers: HeaderMap,
    body: Value,
}

type Seen = Arc<Mutex<Vec<Request>>>;

/// Returns a server whose tool returns what it received.
async fn echo(
    State(seen): State<Seen>,
    uri: Uri,
    headers: HeaderMap,
    body: String,
) -> Response<Body> {
    let status = |code: StatusCode| Response::builder().status(code).body(Body::empty());
    let Ok(message) = serde_json::from_str::<Value>(&body) else {
        return status(StatusCode::METHOD_NOT_ALLOWED).unwrap();
    };
    seen.lock().unwrap().push(Request {
        path: uri.to_string(),
        headers: headers.clone(),
        body: message.clone(),
    });
    let Some(id) = message.get("id") else {
        return status(StatusCode::ACCEPTED).unwrap();
    };
    let received = ["x-key", "authorization"].map(|name| {
        let value = headers.get(name);
        value.map(|value| value.to_str().unwrap())
    });
    let input = &message["params"]["arguments"];
    let text = format!("{received:?} {uri} {input}");
    let mut as_stream = false;
    let answer = match message["method"].as_str().unwrap() {
        "initialize" => json!({"result": {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "fake", "version": "1"},
        }}),
        "tools/list" => json!({"result": {"tools": [{
            "name": "echo", "description": "Echoes.", "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": true},
        }]}}),
        _ if input["as"] == "error" => json!({"error": {"code": -32000, "message": text}}),
        _ => {
            as_stream = input["as"] == "stream";
            json!({"result": {"content": [{"type": "text", "text": text}]}})
        }
    };
    let mut answer = answer;
    answer["jsonrpc"] = "2.0".into();
    answer["id"] = id.clone();
    let (kind, body) = if as_stream {
        // The longest escape of each character.
        let body = answer
            .to_string()
            .replace('/', "\\/")
            .replace('&', "\\u0026");
        ("text/event-stream", format!("data: {body}\n\n"))
    } else {
        ("application/json", answer.to_string())
    };
    Response::builder()
        .header(header::CONTENT_TYPE, kind)
        .body(body.into())
        .unwrap()
}

async fn server() -> (Url, Seen) {
    let seen = Seen::default();
    let router = Router::new().fallback(echo).with_state(Arc::clone(&seen));
    (serve(router).await, seen)
}

fn settings(url: &Url, path: &str, header: &str, secrets: Vec<ToolSecret>) -> ToolsSettings {
    let server = McpServer::Url {
        url: url.join(path).unwrap(),
        headers: BTreeMap::from([("x-key".to_owned(), SecretString::from(header))]),
    };
    ToolsSettings {
        secrets,
        mcp_servers: BTreeMap::from([("far".to_owned(), server)]),
        ..ToolsSettings::default()
    }
}

fn allow(name: &str, url: &Url) -> ToolSecret {
    format!("{name}:{}", url.authority()).parse().unwrap()
}

async fn open(settings: ToolsSettings) -> Harness {
    let harness = Harness::open(false, settings).await;
    harness.set_variable("TOKEN", TOKEN).await;
    harness.background();
    harness
}

async fn until(harness: &Harness, is_there: impl Fn(&McpStatus) -> bool) -> McpStatus {
    let mut board = harness.tools.mcp().watch();
    let there = board.wait_for(|board| board.get("far").is_some_and(&is_there));
    let Ok(board) = tokio::time::timeout(Duration::from_mins(1), there).await else {
        panic!("{:?}", harness.tools.mcp().status())
    };
    board.unwrap()["far"].clone()
}

fn is_connected(status: &McpStatus) -> bool {
    status.state == McpState::Connected
}

#[tokio::test]
async fn a_secret_in_a_header_and_the_path_reaches_the_server_and_not_the_model() {
    let (url, seen) = server().await;
    let path = "/a/{{secret:TOKEN}}/mcp";
    let allowed = vec![allow("TOKEN", &url)];
    let harness = open(settings(&url, path, "Key {{secret:TOKEN}}", allowed)).await;
    until(&harness, is_connected).await;
    for form in ["json", "stream", "error"] {
        let answer = harness.call("mcp__far__echo", json!({ "as": form })).await;
        let answer = answer.unwrap_or_else(|error| error.message);
        assert!(answer.contains("Key {{secret:TOKEN}}"), "{answer}");
        assert!(!answer.contains("live"), "{form}: {answer}");
    }
    {
        let seen = seen.lock().unwrap();
        assert!(seen.len() > 4);
        for request in &*seen {
            assert_eq!(request.headers["x-key"], format!("Key {TOKEN}"));
            assert!(request.path.contains("sk%5Flive%5F1%2F2"), "{request:?}");
        }
    }
    // After a rotation, the next request of the same connection has the new value, and the old value stays hidden.
    harness.set_variable("TOKEN", "another-value").await;
    let input = json!({ "old": TOKEN });
    let answer = harness.call("mcp__far__echo", input).await.unwrap();
    assert!(
        !answer.contains("live") && !answer.contains("another"),
        "{answer}"
    );
    let last = seen.lock().unwrap().last().unwrap().clone();
    assert_eq!(last.headers["x-key"], "Key another-value");
    harness.stop().await;
}

#[tokio::test]
async fn a_fixed_token_reaches_the_server_and_not_the_model() {
    let (url, seen) = server().await;
    let of_vault = settings(&url, "/mcp", "plain", Vec::new());
    let mut written = settings(&url, "/mcp", "plain", Vec::new());
    let header = SecretString::from(format!("Bearer {TOKEN}"));
    let server = McpServer::Url {
        url: url.join("/mcp").unwrap(),
        headers: BTreeMap::from([("Authorization".to_owned(), header)]),
    };
    written.mcp_servers.insert("far".to_owned(), server);
    for (settings, is_stored) in [(of_vault, true), (written, false)] {
        let harness = Harness::open(false, settings).await;
        if is_stored {
            harness.set_variable("MCP_FAR_TOKEN", TOKEN).await;
        }
        harness.background();
        until(&harness, is_connected).await;
        for form in ["json", "stream", "error"] {
            let answer = harness.call("mcp__far__echo", json!({ "as": form })).await;
            let answer = answer.unwrap_or_else(|error| error.message);
            assert!(answer.contains("Bearer {{secret:token}}"), "{answer}");
            assert!(!answer.contains("live"), "{form}: {answer}");
        }
        let last = seen.lock().unwrap().last().unwrap().clone();
        assert_eq!(last.headers["authorization"], format!("Bearer {TOKEN}"));
        harness.stop().await;
    }
}

#[tokio::test]
async fn a_secret_that_the_settings_contain_reaches_the_server_and_not_the_model() {
    let (url, seen) = server().await;
    let harness = Harness::open(false, settings(&url, "/mcp", TOKEN, Vec::new())).await;
    harness.background();
    until(&harness, is_connected).await;
    for form in ["json", "stream", "error"] {
        let answer = harness.call("mcp__far__echo", json!({ "as": form })).await;
        let answer = answer.unwrap_or_else(|error| error.message);
        assert!(answer.contains("{{secret:token}}"), "{answer}");
        assert!(!answer.contains("live"), "{form}: {answer}");
    }
    let last = seen.lock().unwrap().last().unwrap().clone();
    assert_eq!(last.headers["x-key"], TOKEN);
    harness.stop().await;
}

#[tokio::test]
async fn arguments_are_sent_as_they_are() {
    let (url, seen) = server().await;
    let harness = open(settings(&url, "/mcp", "plain", vec![allow("TOKEN", &url)])).await;
    until(&harness, is_connected).await;
    // A page that the agent has read may contain this text, and the agent may quote it in public.
    let input = json!({ "comment": "{{secret:TOKEN}}" });
    harness.call("mcp__far__echo", input.clone()).await.unwrap();
    let sent = seen.lock().unwrap().last().unwrap().body.clone();
    assert_eq!(sent["params"]["arguments"], input);
    harness.stop().await;
}

#[tokio::test]
async fn a_secret_that_is_not_allowed_for_the_host_or_sealed_stops_the_connection() {
    let (url, seen) = server().await;
    let (other, _) = server().await;
    let header = "{{secret:TOKEN}}";
    let harness = open(settings(&url, "/mcp", header, vec![allow("TOKEN", &other)])).await;
    let failed = until(&harness, |status| status.state == McpState::Failed).await;
    let problem = failed.problem.unwrap();
    assert!(problem.contains("TOKEN may not be sent to"), "{problem}");
    assert!(seen.lock().unwrap().is_empty());
    let password = SecretString::from("correct horse battery");
    let owner = Actor::cli();
    harness
        .secrets
        .initialize(&owner, password.clone())
        .await
        .unwrap();
    harness.secrets.seal(&owner).await.unwrap();
    let allowed = settings(&url, "/mcp?", header, vec![allow("TOKEN", &url)]);
    harness.tools.update_settings(allowed);
    until(&harness, |status| status.state == McpState::WaitingForVault).await;
    assert!(seen.lock().unwrap().is_empty());
    let unsealed = harness.secrets.unseal_with_password(&owner, &password);
    unsealed.await.unwrap();
    until(&harness, is_connected).await;
    harness.stop().await;
}

#[tokio::test]
async fn a_secret_is_not_sent_over_http_to_another_machine() {
    let url = Url::parse("http://mcp.example").unwrap();
    let secrets = vec!["TOKEN:mcp.example".parse().unwrap()];
    let harness = open(settings(&url, "/mcp", "{{secret:TOKEN}}", secrets)).await;
    let failed = until(&harness, |status| status.state == McpState::Failed).await;
    let problem = failed.problem.unwrap();
    assert!(problem.contains("over https only"), "{problem}");
    harness.stop().await;
}

#[tokio::test]
async fn a_secret_does_not_follow_a_redirect() {
    let (there, seen) = server().await;
    let to = async move || {
        Response::builder()
            .status(StatusCode::TEMPORARY_REDIRECT)
            .header(header::LOCATION, there.as_str())
            .body(Body::empty())
            .unwrap()
    };
    let url = serve(Router::new().fallback(to)).await;
    let allowed = vec![allow("TOKEN", &url)];
    let harness = open(settings(&url, "/mcp", "{{secret:TOKEN}}", allowed)).await;
    until(&harness, |status| status.state == McpState::Failed).await;
    assert!(seen.lock().unwrap().is_empty());
    harness.stop().await;
}
