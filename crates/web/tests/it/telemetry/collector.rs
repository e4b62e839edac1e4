//! A collector that refuses what does not follow OTLP/HTTP with JSON:
//! <https://opentelemetry.io/docs/specs/otlp/#otlphttp>, and the messages of `opentelemetry-proto` (`trace.proto`,
//! `metrics.proto`). Unlike a real collector, it refuses unknown fields, because they are spelling mistakes.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use flate2::read::GzDecoder;
use serde_json::{Map, Value, json};
use std::collections::{HashSet, VecDeque};
use std::io::Read;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

/// An answer in place of 200.
#[derive(Clone, Copy, Debug)]
pub struct Refusal {
    pub status: u16,
    pub retry_after: Option<&'static str>,
}

#[derive(Debug, Default)]
pub struct Seen {
    pub spans: Vec<Value>,
    pub metrics: Vec<Value>,
    /// When each request for traces came.
    pub traces_at: Vec<Instant>,
    /// Requests, whatever the answer.
    pub requests: usize,
    /// All bodies, as text.
    pub texts: String,
    /// Why a body was refused.
    pub faults: Vec<String>,
    /// The answers to the next requests for traces.
    pub refusals: VecDeque<Refusal>,
    /// The bodies of the next answers to accepted traces, in place of `{}`.
    pub partial: VecDeque<Value>,
}

#[derive(Clone, Debug)]
pub struct Collector {
    pub url: String,
    seen: Arc<Mutex<Seen>>,
}

impl Collector {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let collector = Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            seen: Arc::default(),
        };
        let routes = Router::new()
            .route("/v1/traces", post(traces))
            .route("/v1/metrics", post(metrics))
            .with_state(collector.clone());
        #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
        tokio::spawn(async move { axum::serve(listener, routes).await });
        collector
    }

    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }

    pub fn refuse(&self, status: u16, retry_after: Option<&'static str>) {
        self.seen().refusals.push_back(Refusal {
            status,
            retry_after,
        });
    }

    /// Accepts the next request for traces in part (`ExportTracePartialSuccess` of `trace_service.proto`).
    pub fn reject(&self, spans: u64, message: &str) {
        let partial = json!({ "rejectedSpans": spans.to_string(), "errorMessage": message });
        let answer = json!({ "partialSuccess": partial });
        self.seen().partial.push_back(answer);
    }

    /// Waits until this is true.
    pub async fn until(&self, what: impl Fn(&Seen) -> bool) {
        let wait = async {
            while !what(&self.seen()) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), wait)
            .await
            .unwrap();
    }
}

async fn traces(State(it): State<Collector>, headers: HeaderMap, body: Bytes) -> Response {
    it.seen().traces_at.push(Instant::now());
    it.take(&headers, &body, "resourceSpans", "scopeSpans", |scope| {
        let spans = read_list(scope, "spans", read_span)?;
        it.seen().spans.extend(spans);
        Ok(())
    })
}

async fn metrics(State(it): State<Collector>, headers: HeaderMap, body: Bytes) -> Response {
    it.take(
        &headers,
        &body,
        "resourceMetrics",
        "scopeMetrics",
        |scope| {
            let metrics = read_list(scope, "metrics", read_metric)?;
            it.seen().metrics.extend(metrics);
            Ok(())
        },
    )
}

impl Collector {
    fn take(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        resources: &str,
        scopes: &str,
        keep: impl Fn(&Value) -> Result<(), String>,
    ) -> Response {
        let refusal = {
            let mut seen = self.seen();
            seen.requests += 1;
            (scopes == "scopeSpans")
                .then(|| seen.refusals.pop_front())
                .flatten()
        };
        if let Some(refusal) = refusal {
            let status = StatusCode::from_u16(refusal.status).unwrap();
            let mut answer = (status, axum::Json(json!({ "message": "no" }))).into_response();
            if let Some(wait) = refusal.retry_after {
                let wait = wait.parse().unwrap();
                answer.headers_mut().insert("retry-after", wait);
            }
            return answer;
        }
        let text = match text_of(headers, body) {
            Ok(text) => text,
            Err(fault) => return self.fault(fault),
        };
        self.seen().texts.push_str(&text);
        match read_request(&text, resources, scopes, keep) {
            Ok(()) => {
                let is_traces = scopes == "scopeSpans";
                let partial = is_traces.then(|| self.seen().partial.pop_front()).flatten();
                axum::Json(partial.unwrap_or(json!({}))).into_response()
            }
            Err(fault) => self.fault(fault),
        }
    }

    fn fault(&self, fault: String) -> Response {
        self.seen().faults.push(fault);
        StatusCode::BAD_REQUEST.into_response()
    }
}

fn text_of(headers: &HeaderMap, body: &[u8]) -> Result<String, String> {
    if headers
        .get("content-type")
        .map(axum::http::HeaderValue::as_bytes)
        != Some(b"application/json")
    {
        return Err("the content type is not application/json".to_owned());
    }
    let mut text = String::new();
    let read = match headers
        .get("content-encoding")
        .map(|it| it.to_str().unwrap())
    {
        None => String::from_utf8(body.to_vec())
            .map(|read| text = read)
            .is_ok(),
        Some("gzip") => GzDecoder::new(body).read_to_string(&mut text).is_ok(),
        Some(_) => false,
    };
    read.then_some(text)
        .ok_or_else(|| "the body cannot be decoded".to_owned())
}

fn read_request(
    text: &str,
    resources: &str,
    scopes: &str,
    keep: impl Fn(&Value) -> Result<(), String>,
) -> Result<(), String> {
    let body: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    fields(&body, &[resources], &[])?;
    for one in list(&body[resources])? {
        fields(one, &["resource", scopes], &["schemaUrl"])?;
        fields(
            &one["resource"],
            &["attributes"],
            &["droppedAttributesCount"],
        )?;
        let keys = attributes(&one["resource"]["attributes"])?;
        for key in ["service.name", "service.version", "service.instance.id"] {
            check(
                keys.contains(key),
                "the resource is not named",
                &one["resource"],
            )?;
        }
        for scope in list(&one[scopes])? {
            fields(&scope["scope"], &["name", "version"], &[])?;
            keep(scope)?;
        }
    }
    Ok(())
}

fn read_list(
    scope: &Value,
    name: &str,
    read: impl Fn(&Value) -> Result<(), String>,
) -> Result<Vec<Value>, String> {
    fields(scope, &["scope", name], &["schemaUrl"])?;
    let items = list(&scope[name])?;
    check(!items.is_empty(), "an empty envelope", scope)?;
    items.iter().try_for_each(read)?;
    Ok(items.clone())
}

fn check(is_right: bool, fault: &str, value: &Value) -> Result<(), String> {
    is_right
        .then_some(())
        .ok_or_else(|| format!("{fault}: {value}"))
}

fn list(value: &Value) -> Result<&Vec<Value>, String> {
    value.as_array().ok_or_else(|| format!("no list: {value}"))
}

fn fields(value: &Value, required: &[&str], optional: &[&str]) -> Result<(), String> {
    let object: &Map<String, Value> = value
        .as_object()
        .ok_or_else(|| format!("no object: {value}"))?;
    for name in object.keys().map(String::as_str) {
        let is_known = required.contains(&name) || optional.contains(&name);
        check(is_known, &format!("unknown field {name}"), value)?;
    }
    for name in required {
        check(
            object.contains_key(*name),
            &format!("no field {name}"),
            value,
        )?;
    }
    Ok(())
}

fn id(value: &Value, length: usize) -> Result<(), String> {
    let text = value.as_str().unwrap_or_default();
    let is_id = text.len() == length
        && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        && text.bytes().any(|byte| byte != b'0');
    check(is_id, "not an id", value)
}

/// 64-bit integers are texts.
fn number(value: &Value) -> Result<u64, String> {
    let text = value.as_str().ok_or_else(|| format!("no text: {value}"))?;
    text.parse().map_err(|_| format!("no number: {value}"))
}

fn times(value: &Value, start: &str, end: &str) -> Result<(), String> {
    let (start, end) = (number(&value[start])?, number(&value[end])?);
    let is_now = start > 1_600_000_000_000_000_000;
    check(is_now && start <= end, "not in nanoseconds or order", value)
}

fn attributes(value: &Value) -> Result<HashSet<String>, String> {
    let mut keys = HashSet::new();
    for attribute in list(value)? {
        fields(attribute, &["key", "value"], &[])?;
        let value = &attribute["value"];
        let is_value = match value.as_object().and_then(|it| it.iter().next()) {
            Some((kind, value)) if kind == "stringValue" => value.is_string(),
            Some((kind, value)) if kind == "intValue" => value
                .as_str()
                .is_some_and(|text| text.parse::<i64>().is_ok()),
            _ => false,
        };
        check(
            is_value && value.as_object().unwrap().len() == 1,
            "no value",
            attribute,
        )?;
        let key = attribute["key"].as_str().unwrap_or_default().to_owned();
        check(
            !key.is_empty() && keys.insert(key),
            "empty or twice",
            attribute,
        )?;
    }
    Ok(keys)
}

fn read_span(span: &Value) -> Result<(), String> {
    let required = [
        "traceId",
        "spanId",
        "name",
        "kind",
        "startTimeUnixNano",
        "endTimeUnixNano",
    ];
    let optional = [
        "traceState",
        "parentSpanId",
        "flags",
        "attributes",
        "droppedAttributesCount",
        "events",
        "droppedEventsCount",
        "links",
        "droppedLinksCount",
        "status",
    ];
    fields(span, &required, &optional)?;
    id(&span["traceId"], 32)?;
    id(&span["spanId"], 16)?;
    if let Some(parent) = span.get("parentSpanId") {
        id(parent, 16)?;
    }
    let is_named = span["name"].as_str().is_some_and(|name| !name.is_empty());
    check(is_named, "no name", span)?;
    let is_kind = span["kind"]
        .as_u64()
        .is_some_and(|kind| (1..=5).contains(&kind));
    check(is_kind, "no kind", span)?;
    times(span, "startTimeUnixNano", "endTimeUnixNano")?;
    attributes(&span["attributes"])?;
    for link in span
        .get("links")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        fields(
            link,
            &["traceId", "spanId"],
            &["traceState", "attributes", "flags"],
        )?;
        id(&link["traceId"], 32)?;
        id(&link["spanId"], 16)?;
    }
    if let Some(status) = span.get("status") {
        fields(status, &["code"], &["message"])?;
        let is_code = status["code"].as_u64().is_some_and(|code| code <= 2);
        check(is_code, "no status", span)?;
    }
    Ok(())
}

fn read_metric(metric: &Value) -> Result<(), String> {
    let kinds = ["sum", "gauge", "histogram"];
    fields(
        metric,
        &["name"],
        &[&["description", "unit"][..], &kinds].concat(),
    )?;
    let mut found = kinds.iter().filter(|kind| metric.get(**kind).is_some());
    let (kind, more) = (found.next(), found.next());
    let kind = *kind
        .filter(|_| more.is_none())
        .ok_or("not one kind of data")?;
    let data = &metric[kind];
    match kind {
        "sum" => fields(
            data,
            &["dataPoints", "aggregationTemporality", "isMonotonic"],
            &[],
        )?,
        "gauge" => fields(data, &["dataPoints"], &[])?,
        _ => fields(data, &["dataPoints", "aggregationTemporality"], &[])?,
    }
    check(
        kind == "gauge" || data["aggregationTemporality"] == 2,
        "not cumulative",
        metric,
    )?;
    for point in list(&data["dataPoints"])? {
        let shared = ["attributes", "startTimeUnixNano", "timeUnixNano"];
        attributes(&point["attributes"])?;
        times(point, "startTimeUnixNano", "timeUnixNano")?;
        if kind == "histogram" {
            let own = ["count", "sum", "bucketCounts", "explicitBounds"];
            fields(point, &[&shared[..], &own].concat(), &[])?;
            read_buckets(point)?;
        } else {
            fields(point, &[&shared[..], &["asDouble"]].concat(), &[])?;
            check(point["asDouble"].is_number(), "no value", point)?;
        }
    }
    Ok(())
}

fn read_buckets(point: &Value) -> Result<(), String> {
    let counts = list(&point["bucketCounts"])?.iter().map(number);
    let counts: Vec<u64> = counts.collect::<Result<_, _>>()?;
    let bounds = list(&point["explicitBounds"])?.iter();
    let bounds: Vec<f64> = bounds.filter_map(Value::as_f64).collect();
    let is_right = counts.len() == bounds.len() + 1
        && bounds.is_sorted()
        && counts.iter().sum::<u64>() == number(&point["count"])?
        && point["sum"].is_number();
    check(is_right, "the buckets do not add up", point)
}
