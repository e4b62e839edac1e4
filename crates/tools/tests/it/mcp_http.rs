//! MCP over streamable HTTP (MCP 2025-06-18, "Streamable HTTP"). Each message is a POST, the answer is JSON or an event
//! stream, and a header carries the session ID.

use crate::harness::{Harness, serve};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, StatusCode, header};
use axum::middleware::map_response;
use axum::routing::any;
use futures_util::stream;
use gatehouse_config::McpServer;
use gatehouse_tools::{McpState, McpStatus, ToolsSettings};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use url::Url;

#[derive(Clone, Default)]
struct Fake {
    seen: Arc<Mutex<Vec<(Method, HeaderMap)>>>,
    token: Option<&'static str>,
    /// Notified of a call that gets no response.
    waits: Arc<Notify>,
    /// Whether a call was refused because its session had expired.
    has_expired: Arc<AtomicBool>,
}

fn respond(kind: &str, body: impl Into<Body>) -> Response<Body> {
    Response::builder()
        .header(header::CONTENT_TYPE, kind)
        .header("mcp-session-id", "session-1")
        .body(body.into())
        .unwrap()
}

fn status(code: StatusCode) -> Response<Body> {
    Response::builder()
        .status(code)
        .body(Body::empty())
        .unwrap()
}

async fn answer(
    State(fake): State<Fake>,
    method: Method,
    headers: HeaderMap,
    body: String,
) -> Response<Body> {
    fake.seen
        .lock()
        .unwrap()
        .push((method.clone(), headers.clone()));
    let expected = fake.token.map(|token| format!("Bearer {token}"));
    let given = headers
        .get(header::AUTHORIZATION)
        .map(|v| v.to_str().unwrap().to_owned());
    if expected != given {
        return status(StatusCode::UNAUTHORIZED);
    }
    if method != Method::POST {
        return status(StatusCode::METHOD_NOT_ALLOWED);
    }
    let message: Value = serde_json::from_str(&body).unwrap();
    let Some(id) = message.get("id") else {
        return status(StatusCode::ACCEPTED);
    };
    let reply = |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    match message["method"].as_str().unwrap() {
        "initialize" => respond(
            "application/json",
            reply(json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "fake", "version": "1"},
            })),
        ),
        "tools/list" => respond(
            "application/json",
            reply(
                json!({"tools": [{"name": "add", "description": "Adds.", "inputSchema": {
                    "type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                }}]}),
            ),
        ),
        "tools/call" => {
            let input = &message["params"]["arguments"];
            match input["lost"].as_str() {
                // A proxy answers 502 even if the server has received the request.
                Some("proxy") => return status(StatusCode::BAD_GATEWAY),
                Some("accepted") => return status(StatusCode::ACCEPTED),
                Some("cut") => {
                    return respond("application/json", "{\"jsonrpc\": \"2.0\", \"id\":");
                }
                Some("session") => {
                    fake.waits.notify_one();
                    let never = stream::pending::<io::Result<Vec<u8>>>();
                    return respond("text/event-stream", Body::from_stream(never));
                }
                _ => {}
            }
            if input["expires"] == true && !fake.has_expired.swap(true, Ordering::SeqCst) {
                return status(StatusCode::NOT_FOUND);
            }
            if let Some(mebibytes) = input["mebibytes"].as_u64() {
                let text = "x".repeat(usize::try_from(mebibytes).unwrap() << 20);
                let large = reply(json!({"content": [{"type": "text", "text": text}]}));
                return if input["as"] == "stream" {
                    respond("text/event-stream", format!("data: {large}\n\n"))
                } else {
                    respond("application/json", large)
                };
            }
            let sum = input["a"].as_i64().unwrap() + input["b"].as_i64().unwrap();
            let result = reply(json!({"content": [{"type": "text", "text": sum.to_string()}]}));
            respond(
                "text/event-stream",
                format!("event: message\ndata: {result}\n\n"),
            )
        }
        _ => status(StatusCode::NOT_FOUND),
    }
}

async fn harness(url: Url) -> Harness {
    let server = McpServer::at(url);
    let settings = ToolsSettings {
        mcp_servers: BTreeMap::from([("far".to_owned(), server)]),
        ..ToolsSettings::default()
    };
    Harness::open(false, settings).await
}

async fn until(harness: &Harness, state: McpState) -> McpStatus {
    let mut board = harness.tools.mcp().watch();
    let there = board.wait_for(|board| board.get("far").is_some_and(|s| s.state == state));
    let Ok(board) = tokio::time::timeout(Duration::from_mins(1), there).await else {
        panic!("{:?}", harness.tools.mcp().status())
    };
    board.unwrap()["far"].clone()
}

#[tokio::test]
async fn the_effect_of_a_call_whose_response_is_lost_is_not_known() {
    let fake = Fake::default();
    let router = Router::new().route("/mcp", any(answer)).with_state(fake);
    let url = serve(router).await.join("/mcp").unwrap();
    let harness = harness(url).await;
    harness.background();
    until(&harness, McpState::Connected).await;
    for lost in ["proxy", "accepted", "cut"] {
        let refusal = harness.refusal("mcp__far__add", json!({ "lost": lost }));
        assert_eq!(
            refusal.await,
            "The MCP server far returned no response. It is not known whether the call took effect. Check that before \
             you repeat it.",
            "{lost}"
        );
    }
    harness.stop().await;
}

#[tokio::test]
async fn the_effect_of_a_call_whose_session_is_replaced_is_not_known() {
    let fake = Fake::default();
    let router = Router::new().route("/mcp", any(answer));
    let url = serve(router.with_state(fake.clone())).await;
    let harness = harness(url.join("/mcp").unwrap()).await;
    harness.background();
    until(&harness, McpState::Connected).await;
    let waiting = harness.refusal("mcp__far__add", json!({ "lost": "session" }));
    let refused = async {
        fake.waits.notified().await;
        let input = json!({ "a": 2, "b": 3, "expires": true });
        harness.call("mcp__far__add", input).await
    };
    let both = async { tokio::join!(waiting, refused) };
    let (refusal, sum) = tokio::time::timeout(Duration::from_mins(1), both)
        .await
        .unwrap();
    assert_eq!(
        refusal,
        "The MCP server far returned no response. It is not known whether the call took effect. Check that before you \
         repeat it."
    );
    // The server refused this call before processing it, so the client repeats it in the new
    // session.
    assert_eq!(sum.as_deref(), Ok("5"));
    assert!(fake.has_expired.load(Ordering::SeqCst));
    harness.stop().await;
}

/// Ends the connection, so that the next request needs another one.
async fn close(mut response: Response<Body>) -> Response<Body> {
    let value = header::HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, value);
    response
}

#[tokio::test]
async fn a_call_that_was_not_sent_can_be_repeated() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let router = Router::new().route("/mcp", any(answer));
    let router = router.layer(map_response(close));
    let router = router.with_state(Fake::default());
    let stop = CancellationToken::new();
    let stopped = stop.clone().cancelled_owned();
    let serving = axum::serve(listener, router).with_graceful_shutdown(stopped);
    let harness = harness(Url::parse(&url).unwrap()).await;
    harness.background();
    let (served, ()) = tokio::join!(serving.into_future(), async {
        until(&harness, McpState::Connected).await;
        stop.cancel();
    });
    served.unwrap();
    let refusal = harness.refusal("mcp__far__add", json!({ "a": 1, "b": 2 }));
    assert_eq!(
        refusal.await,
        "The MCP server far is restarting; try again in a moment."
    );
    harness.stop().await;
}

#[tokio::test]
async fn a_server_behind_a_url() {
    let fake = Fake::default();
    let url = serve(
        Router::new()
            .route("/mcp", any(answer))
            .with_state(fake.clone()),
    )
    .await;
    let harness = harness(url.join("/mcp").unwrap()).await;
    harness.background();
    let status = until(&harness, McpState::Connected).await;
    assert_eq!((status.tools, status.transport), (1, "http"));
    let sum = harness.call("mcp__far__add", json!({"a": 2, "b": 3})).await;
    assert_eq!(sum.as_deref(), Ok("5"));
    harness.stop().await;
    let seen = fake.seen.lock().unwrap();
    let posts: Vec<_> = seen
        .iter()
        .filter(|(method, _)| method == Method::POST)
        .collect();
    assert!(
        posts
            .iter()
            .skip(1)
            .all(|(_, headers)| headers["mcp-session-id"] == "session-1")
    );
    assert!(
        seen.iter()
            .all(|(_, headers)| !headers.contains_key(header::COOKIE))
    );
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_an_error_of_its_call() {
    let url = serve(
        Router::new()
            .route("/", any(answer))
            .with_state(Fake::default()),
    )
    .await;
    let harness = harness(url).await;
    harness.background();
    until(&harness, McpState::Connected).await;
    for (form, mebibytes, limit) in [("stream", 5, 4), ("json", 17, 16)] {
        let input = json!({"as": form, "mebibytes": mebibytes});
        let called = harness.refusal("mcp__far__add", input);
        let refusal = tokio::time::timeout(Duration::from_mins(1), called).await;
        let expected = format!("The answer is larger than {limit} MiB.");
        assert!(
            refusal.as_ref().is_ok_and(|said| said.contains(&expected)),
            "{refusal:?}"
        );
    }
    // The connection is still usable.
    let sum = harness.call("mcp__far__add", json!({"a": 2, "b": 3})).await;
    assert_eq!(sum.as_deref(), Ok("5"));
    harness.stop().await;
}

#[tokio::test]
async fn its_token_comes_from_the_vault() {
    let fake = Fake {
        token: Some("far-token"),
        ..Fake::default()
    };
    let url = serve(Router::new().route("/", any(answer)).with_state(fake)).await;
    let harness = harness(url).await;
    harness.background();
    let failed = until(&harness, McpState::Failed).await;
    assert!(!failed.problem.unwrap().contains("127.0.0.1"));
    harness.set_variable("MCP_FAR_TOKEN", "far-token").await;
    until(&harness, McpState::Connected).await;
    harness.stop().await;
}

#[tokio::test]
async fn a_metadata_service_is_never_called_and_redirects_are_not_followed() {
    let metadata = harness(Url::parse("http://169.254.169.254/mcp").unwrap()).await;
    metadata.background();
    let failed = until(&metadata, McpState::Failed).await;
    assert!(failed.problem.unwrap().contains("must not be called"));
    metadata.stop().await;
    let fake = Fake::default();
    let there = serve(
        Router::new()
            .route("/", any(answer))
            .with_state(fake.clone()),
    )
    .await;
    let to = async move || {
        Response::builder()
            .status(StatusCode::TEMPORARY_REDIRECT)
            .header(header::LOCATION, there.as_str())
            .body(Body::empty())
            .unwrap()
    };
    let harness = harness(serve(Router::new().route("/", any(to))).await).await;
    harness.background();
    until(&harness, McpState::Failed).await;
    assert!(fake.seen.lock().unwrap().is_empty());
    harness.stop().await;
}

#[tokio::test]
async fn its_token_does_not_follow_another_address() {
    let (own, other) = (
        Fake {
            token: Some("far-token"),
            ..Fake::default()
        },
        Fake::default(),
    );
    let own_url = serve(Router::new().route("/", any(answer)).with_state(own)).await;
    let other_url = serve(
        Router::new()
            .route("/", any(answer))
            .with_state(other.clone()),
    )
    .await;
    let harness = harness(own_url).await;
    harness.set_variable("MCP_FAR_TOKEN", "far-token").await;
    harness.background();
    until(&harness, McpState::Connected).await;
    let moved = ToolsSettings {
        mcp_servers: BTreeMap::from([("far".to_owned(), McpServer::at(other_url))]),
        ..ToolsSettings::default()
    };
    harness.tools.update_settings(moved);
    let mut board = harness.tools.mcp().watch();
    let ended = board.wait_for(|board| {
        let problem = board.get("far").and_then(|status| status.problem.as_ref());
        problem.is_some_and(|problem| problem.contains("MCP_FAR_TOKEN"))
    });
    let ended = tokio::time::timeout(Duration::from_secs(10), ended).await;
    let received = matches!(ended, Ok(Ok(_)));
    harness.stop().await;
    for (_, headers) in other.seen.lock().unwrap().iter() {
        assert!(
            !headers.contains_key(header::AUTHORIZATION),
            "the token went to another address"
        );
    }
    assert!(received, "the status does not say what to do");
}
