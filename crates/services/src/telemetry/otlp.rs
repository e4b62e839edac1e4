//! The messages of OTLP in JSON (opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): names in lowerCamelCase,
//! IDs in hexadecimal, 64-bit integers as texts, enumerations as numbers.

use super::exposition::{Family, Kind, Point};
use gatehouse_domain::Timestamp;
use gatehouse_domain::trace::{AttributeValue, Span};
use serde_json::{Map, Value, json};

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u8 = 2;
/// `STATUS_CODE_ERROR`.
const STATUS_ERROR: u8 = 2;

/// The sender of the data: its version and its process.
#[derive(Clone, Debug)]
pub(super) struct Resource {
    pub(super) version: &'static str,
    /// A random ID for each start.
    pub(super) instance: String,
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn attribute(key: &str, value: &AttributeValue) -> Value {
    match value {
        AttributeValue::Text(value) => text(key, value),
        AttributeValue::Number(value) => {
            json!({ "key": key, "value": { "intValue": value.to_string() } })
        }
    }
}

fn nanos(at: Timestamp) -> String {
    let millis = u64::try_from(at.as_millis()).unwrap_or(0);
    millis.saturating_mul(1_000_000).to_string()
}

impl Resource {
    fn json(&self) -> Value {
        json!({ "attributes": [
            text("service.name", "gatehouse"),
            text("service.version", self.version),
            text("service.instance.id", &self.instance),
        ] })
    }

    fn scope(&self) -> Value {
        json!({ "name": "gatehouse", "version": self.version })
    }

    /// Returns an `ExportTraceServiceRequest`.
    pub(super) fn traces(&self, spans: &[Span]) -> Value {
        let spans: Vec<Value> = spans.iter().map(span).collect();
        json!({ "resourceSpans": [{
            "resource": self.json(),
            "scopeSpans": [{ "scope": self.scope(), "spans": spans }],
        }] })
    }

    /// Returns an `ExportMetricsServiceRequest`. `times` contains when counting began, and the current time.
    pub(super) fn metrics(&self, families: &[Family], times: (Timestamp, Timestamp)) -> Value {
        let (started, now) = times;
        let times = (nanos(started), nanos(now.max(started)));
        let metrics: Vec<Value> = families
            .iter()
            .map(|family| metric(family, &times))
            .collect();
        json!({ "resourceMetrics": [{
            "resource": self.json(),
            "scopeMetrics": [{ "scope": self.scope(), "metrics": metrics }],
        }] })
    }
}

fn span(span: &Span) -> Value {
    let attributes = span.attributes.iter();
    let mut attributes: Vec<Value> = attributes
        .map(|(key, value)| attribute(key, value))
        .collect();
    attributes.extend(span.error.map(|reason| text("error.type", reason)));
    let mut body = json!({
        "traceId": span.context.trace_id.to_string(),
        "spanId": span.context.span_id.to_string(),
        "name": span.name,
        "kind": span.kind as u8,
        "startTimeUnixNano": nanos(span.started_at),
        "endTimeUnixNano": nanos(span.ended_at),
        "attributes": attributes,
    });
    if let Value::Object(body) = &mut body {
        let mut add = |name: &str, value: Value| body.insert(name.to_owned(), value);
        if let Some(parent) = span.parent {
            add("parentSpanId", json!(parent.to_string()));
        }
        if let Some(link) = span.link {
            let (trace_id, span_id) = (link.trace_id.to_string(), link.span_id.to_string());
            add("links", json!([{ "traceId": trace_id, "spanId": span_id }]));
        }
        if span.error.is_some() {
            add("status", json!({ "code": STATUS_ERROR }));
        }
    }
    body
}

/// Returns the unit in UCUM, from the end of the name.
fn unit(name: &str) -> &'static str {
    let name = name.strip_suffix("_total").unwrap_or(name);
    if name.ends_with("_seconds") {
        "s"
    } else if name.ends_with("_bytes") {
        "By"
    } else {
        ""
    }
}

fn metric(family: &Family, times: &(String, String)) -> Value {
    let points = family.points.iter().filter(|point| point.value.is_finite());
    let points: Vec<Value> = points
        .map(|point| data_point(family.kind, point, times))
        .collect();
    let (kind, data) = match family.kind {
        Kind::Counter => (
            "sum",
            json!({ "aggregationTemporality": CUMULATIVE, "isMonotonic": true, "dataPoints": points }),
        ),
        Kind::Gauge => ("gauge", json!({ "dataPoints": points })),
        Kind::Histogram => (
            "histogram",
            json!({ "aggregationTemporality": CUMULATIVE, "dataPoints": points }),
        ),
    };
    json!({
        "name": family.name,
        "description": family.help,
        "unit": unit(&family.name),
        kind: data,
    })
}

fn data_point(kind: Kind, point: &Point, (started, now): &(String, String)) -> Value {
    let labels = point.labels.iter();
    let labels: Vec<Value> = labels.map(|(key, value)| text(key, value)).collect();
    let mut body = Map::new();
    let mut add = |name: &str, value: Value| body.insert(name.to_owned(), value);
    add("attributes", json!(labels));
    add("startTimeUnixNano", json!(started));
    add("timeUnixNano", json!(now));
    if kind == Kind::Histogram {
        let counts: Vec<String> = point.bucket_counts().iter().map(u64::to_string).collect();
        add("count", json!(point.count.to_string()));
        add("sum", json!(point.sum));
        add("bucketCounts", json!(counts));
        add("explicitBounds", json!(point.bounds()));
    } else {
        add("asDouble", json!(point.value));
    }
    Value::Object(body)
}
