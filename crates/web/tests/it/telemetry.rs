//! `[telemetry]`: traces and metrics, at a collector that reads them as strictly as OTLP/HTTP with JSON demands.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use gatehouse_testkit::{Options, TestServer};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;

#[derive(Default)]
struct Inner {
    spans: Vec<Value>,
    metrics: Vec<Value>,
    requests: u32,
    /// Answer this many requests with 503.
    refuse: u32,
}

type Shared = Arc<Mutex<Inner>>;

fn fields<'v>(
    value: &'v Value,
    allowed: &[&str],
    required: &[&str],
) -> &'v serde_json::Map<String, Value> {
    let object = value.as_object().unwrap();
    for name in object.keys() {
        assert!(
            allowed.contains(&name.as_str()),
            "unknown field {name} in {value}"
        );
    }
    for name in required {
        assert!(object.contains_key(*name), "{name} is missing in {value}");
    }
    object
}

fn hex(value: &Value, length: usize) {
    let text = value.as_str().unwrap();
    assert_eq!(text.len(), length, "{text}");
    assert!(text.bytes().all(|b| b.is_ascii_hexdigit()), "{text}");
    assert!(text.bytes().any(|b| b != b'0'), "{text}");
}

fn nanos(value: &Value) -> u64 {
    let text = value.as_str().expect("64-bit integers are strings");
    let nanos: u64 = text.parse().unwrap();
    assert!(
        nanos > 1_600_000_000_000_000_000,
        "{nanos} are not nanoseconds"
    );
    nanos
}

fn attributes(value: &Value) -> HashSet<String> {
    let mut keys = HashSet::new();
    for attribute in value.as_array().unwrap() {
        let attribute = fields(attribute, &["key", "value"], &["key", "value"]);
        let value = attribute["value"].as_object().unwrap();
        assert_eq!(value.len(), 1);
        let (kind, value) = value.iter().next().unwrap();
        match kind.as_str() {
            "stringValue" => assert!(value.is_string()),
            "intValue" => drop(value.as_str().unwrap().parse::<i64>().unwrap()),
            other => panic!("{other}"),
        }
        assert!(
            keys.insert(attribute["key"].as_str().unwrap().to_owned()),
            "a key is there twice"
        );
    }
    keys
}

fn resource(value: &Value) {
    let resource = fields(value, &["attributes"], &["attributes"]);
    let keys = attributes(&resource["attributes"]);
    assert!(keys.contains("service.name") && keys.contains("service.instance.id"));
}

fn read_span(span: &Value) {
    let optional = ["parentSpanId", "links"];
    let required = [
        "traceId",
        "spanId",
        "name",
        "kind",
        "startTimeUnixNano",
        "endTimeUnixNano",
        "attributes",
        "events",
        "status",
    ];
    fields(span, &[&required[..], &optional[..]].concat(), &required);
    hex(&span["traceId"], 32);
    hex(&span["spanId"], 16);
    if let Some(parent) = span.get("parentSpanId") {
        hex(parent, 16);
    }
    assert!((1..=5).contains(&span["kind"].as_u64().unwrap()));
    assert!(nanos(&span["endTimeUnixNano"]) >= nanos(&span["startTimeUnixNano"]));
    attributes(&span["attributes"]);
    for event in span["events"].as_array().unwrap() {
        fields(
            event,
            &["timeUnixNano", "name", "attributes"],
            &["timeUnixNano", "name"],
        );
        nanos(&event["timeUnixNano"]);
    }
    for link in span
        .get("links")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        hex(&link["traceId"], 32);
        hex(&link["spanId"], 16);
    }
}

fn read_metric(metric: &Value) {
    fields(
        metric,
        &["name", "description", "sum", "gauge", "histogram"],
        &["name"],
    );
    let data = ["sum", "gauge", "histogram"]
        .iter()
        .find_map(|kind| Some((*kind, metric.get(*kind)?)));
    let (kind, data) = data.unwrap();
    if kind != "gauge" {
        assert_eq!(data["aggregationTemporality"], 2);
    }
    if kind == "sum" {
        assert_eq!(data["isMonotonic"], true);
    }
    for point in data["dataPoints"].as_array().unwrap() {
        attributes(&point["attributes"]);
        assert!(nanos(&point["timeUnixNano"]) >= nanos(&point["startTimeUnixNano"]));
        if kind == "histogram" {
            let text = |value: &Value| value.as_str().unwrap().parse::<u64>().unwrap();
            let counts: Vec<u64> = point["bucketCounts"]
                .as_array()
                .unwrap()
                .iter()
                .map(text)
                .collect();
            let bounds: Vec<f64> = point["explicitBounds"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it.as_f64().unwrap())
                .collect();
            assert_eq!(counts.len(), bounds.len() + 1);
            assert_eq!(counts.iter().sum::<u64>(), text(&point["count"]));
            assert!(bounds.is_sorted());
        } else {
            assert!(point["asDouble"].is_number());
        }
    }
}

async fn take(
    state: &Shared,
    headers: &HeaderMap,
    body: &Bytes,
    names: [&str; 3],
) -> (StatusCode, String) {
    assert_eq!(headers["content-type"], "application/json");
    let body: Value = serde_json::from_slice(body).unwrap();
    let [resources, scopes, list] = names;
    fields(&body, &[resources], &[resources]);
    let mut state = state.lock().unwrap();
    state.requests += 1;
    if state.refuse > 0 {
        state.refuse -= 1;
        return (StatusCode::SERVICE_UNAVAILABLE, String::new());
    }
    for one in body[resources].as_array().unwrap() {
        fields(one, &["resource", scopes], &["resource", scopes]);
        resource(&one["resource"]);
        for scope in one[scopes].as_array().unwrap() {
            fields(scope, &["scope", list], &["scope", list]);
            for item in scope[list].as_array().unwrap() {
                if list == "spans" {
                    read_span(item);
                    state.spans.push(item.clone());
                } else {
                    read_metric(item);
                    state.metrics.push(item.clone());
                }
            }
        }
    }
    (StatusCode::OK, "{}".to_owned())
}

async fn traces(
    State(state): State<Shared>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, String) {
    take(
        &state,
        &headers,
        &body,
        ["resourceSpans", "scopeSpans", "spans"],
    )
    .await
}

async fn metrics(
    State(state): State<Shared>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, String) {
    take(
        &state,
        &headers,
        &body,
        ["resourceMetrics", "scopeMetrics", "metrics"],
    )
    .await
}

async fn collector() -> (String, Shared) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let state = Shared::default();
    let routes = Router::new()
        .route("/v1/traces", post(traces))
        .route("/v1/metrics", post(metrics))
        .with_state(Arc::clone(&state));
    #[expect(clippy::disallowed_methods, reason = "ends with the test")]
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    (url, state)
}

const TRACEPARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Delivers to a webhook that sends to the inbox, and returns the id of the delivery when it has completed.
async fn deliver(server: &TestServer) -> String {
    let owner = server.set_up().await;
    let webhook = json!({
        "name": "House", "source_profile": "generic", "auth_mode": "none", "deliver_only": true,
        "deliver_to": "inbox",
    });
    let made = owner.rpc("webhooks.create", webhook).await.unwrap();
    let path = made["url"].as_str().unwrap();
    let path = &path[path.find("/api/").unwrap()..];
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = format!("http://{}{path}", server.address());
    let answer = client
        .post(url)
        .header("traceparent", TRACEPARENT)
        .json(&json!({ "a": 1 }))
        .send();
    let answer: Value = answer.await.unwrap().json().await.unwrap();
    let id = answer["delivery_id"].as_str().unwrap().to_owned();
    let waited = tokio::time::timeout(Duration::from_secs(20), async {
        loop {
            let found = owner
                .rpc("webhooks.delivery.get", json!({ "id": id }))
                .await
                .unwrap();
            if found["status"] == "completed" {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    waited.await.unwrap();
    id
}

#[tokio::test]
async fn a_delivery_is_one_trace_from_the_request_to_the_message() {
    let (url, state) = collector().await;
    let options = Options::default().env("SERVICE_TELEMETRY__OTLP_ENDPOINT", &url);
    let mut server = TestServer::start(options).await;
    let id = deliver(&server).await;
    // What is left is sent at the stop.
    drop(server.stop().await);
    let state = state.lock().unwrap();
    let find = |name: &str| {
        let mut found = state.spans.iter().filter(|span| span["name"] == name);
        let first = found
            .next()
            .unwrap_or_else(|| panic!("no span {name} in {:?}", state.spans));
        assert!(found.next().is_none(), "{name} twice");
        first
    };
    let (receive, send) = (find("webhook.receive"), find("channel.send"));
    assert_eq!(receive["traceId"], send["traceId"]);
    assert_eq!(send["parentSpanId"], receive["spanId"]);
    assert!(receive.get("parentSpanId").is_none());
    assert_eq!(
        receive["links"][0]["traceId"],
        "4bf92f3577b34da6a3ce929d0e0e4736"
    );
    assert_ne!(
        receive["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736",
        "a sender chooses no trace id"
    );
    let named = |span: &Value| span["attributes"].to_string().contains(&id);
    assert!(named(receive) && named(send));
    let names: HashSet<&str> = state
        .metrics
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    for name in [
        "http_requests_total",
        "http_request_duration_seconds",
        "webhooks_worker_queue_depth",
    ] {
        assert!(names.contains(name), "{name}: {names:?}");
    }
}

#[tokio::test]
async fn a_collector_that_is_busy_gets_the_spans_later() {
    let (url, state) = collector().await;
    state.lock().unwrap().refuse = 1;
    let options = Options::default().env("SERVICE_TELEMETRY__OTLP_ENDPOINT", &url);
    let mut server = TestServer::start(options).await;
    deliver(&server).await;
    let waited = tokio::time::timeout(Duration::from_secs(20), async {
        while state.lock().unwrap().spans.is_empty() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    waited.await.unwrap();
    drop(server.stop().await);
    let state = state.lock().unwrap();
    assert!(state.requests >= 2);
    assert!(
        state
            .spans
            .iter()
            .any(|span| span["name"] == "webhook.receive")
    );
}

#[tokio::test]
async fn a_collector_that_is_away_delays_nothing_and_nothing_is_sent_without_one() {
    let (url, state) = collector().await;
    let server = TestServer::start(Options::default()).await;
    deliver(&server).await;
    assert_eq!(state.lock().unwrap().requests, 0);
    drop(url);
    // Nothing listens there.
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let options = Options::default().env("SERVICE_TELEMETRY__OTLP_ENDPOINT", &url);
    let mut server = TestServer::start(options).await;
    deliver(&server).await;
    let stopped = tokio::time::timeout(Duration::from_secs(10), server.stop());
    stopped.await.unwrap();
}
