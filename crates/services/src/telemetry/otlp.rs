//! The messages of OTLP in JSON (opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): names in lowerCamelCase,
//! ids in hexadecimal, 64-bit integers as strings, enumerations as numbers.

use super::exposition::{Family, Kind, Point};
use super::spans::Span;
use gatehouse_domain::Timestamp;
use gatehouse_webhooks::ResponseAction;
use serde_json::{Value, json};

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u8 = 2;
/// `STATUS_CODE_ERROR`.
const STATUS_ERROR: u8 = 2;

/// What sends: the version and the process.
#[derive(Clone, Debug)]
pub(super) struct Resource {
    pub(super) version: &'static str,
    /// Random, for each start.
    pub(super) instance: String,
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn number(key: &str, value: i64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}

fn nanos(at: Timestamp) -> String {
    let millis = u64::try_from(at.as_millis()).unwrap_or(0);
    u128::from(millis).saturating_mul(1_000_000).to_string()
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

    /// `ExportTraceServiceRequest`.
    pub(super) fn traces(&self, spans: &[Span]) -> Value {
        let spans: Vec<Value> = spans.iter().map(span).collect();
        json!({ "resourceSpans": [{
            "resource": self.json(),
            "scopeSpans": [{ "scope": self.scope(), "spans": spans }],
        }] })
    }

    /// `ExportMetricsServiceRequest`.
    pub(super) fn metrics(&self, families: &[Family], started: Timestamp, now: Timestamp) -> Value {
        let metrics: Vec<Value> = families
            .iter()
            .map(|family| metric(family, &nanos(started), &nanos(now)))
            .collect();
        json!({ "resourceMetrics": [{
            "resource": self.json(),
            "scopeMetrics": [{ "scope": self.scope(), "metrics": metrics }],
        }] })
    }
}

fn span(span: &Span) -> Value {
    let texts = span.texts.iter().map(|(key, value)| text(key, value));
    let numbers = span.numbers.iter().map(|(key, value)| number(key, *value));
    let attributes: Vec<Value> = texts.chain(numbers).collect();
    let mut body = json!({
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "name": span.name,
        "kind": span.kind as u8,
        "startTimeUnixNano": nanos(span.started_at),
        "endTimeUnixNano": nanos(span.ended_at),
        "attributes": attributes,
        "events": span.tool_calls.iter().map(tool_call).collect::<Vec<_>>(),
        "status": span.error.as_ref().map_or_else(
            || json!({}),
            |error| json!({ "code": STATUS_ERROR, "message": error }),
        ),
    });
    if let Value::Object(body) = &mut body {
        if let Some(parent) = &span.parent {
            body.insert("parentSpanId".to_owned(), json!(parent));
        }
        if let Some(link) = &span.link {
            let link = json!({ "traceId": link.trace_id, "spanId": link.span_id });
            body.insert("links".to_owned(), json!([link]));
        }
    }
    body
}

fn tool_call(action: &ResponseAction) -> Value {
    json!({
        "timeUnixNano": nanos(action.at),
        "name": "tool.call",
        "attributes": [
            text("gen_ai.tool.name", &action.tool),
            text("gatehouse.tool.status", &action.status),
        ],
    })
}

fn metric(family: &Family, started: &str, now: &str) -> Value {
    let base = |point: &Point| {
        let attributes: Vec<Value> = point
            .labels
            .iter()
            .map(|(key, value)| text(key, value))
            .collect();
        json!({ "attributes": attributes, "startTimeUnixNano": started, "timeUnixNano": now })
    };
    let with = |mut body: Value, fields: Value| {
        if let (Value::Object(body), Value::Object(fields)) = (&mut body, fields) {
            body.extend(fields);
        }
        body
    };
    let points: Vec<Value> = family
        .points
        .iter()
        .map(|point| match family.kind {
            Kind::Counter | Kind::Gauge => with(base(point), json!({ "asDouble": point.value })),
            Kind::Histogram => {
                let counts: Vec<String> =
                    point.bucket_counts().iter().map(u64::to_string).collect();
                with(
                    base(point),
                    json!({
                        "count": point.count.to_string(),
                        "sum": point.sum,
                        "bucketCounts": counts,
                        "explicitBounds": point.bounds(),
                    }),
                )
            }
        })
        .collect();
    let data = match family.kind {
        Kind::Counter => json!({ "sum": {
            "aggregationTemporality": CUMULATIVE, "isMonotonic": true, "dataPoints": points,
        } }),
        Kind::Gauge => json!({ "gauge": { "dataPoints": points } }),
        Kind::Histogram => json!({ "histogram": {
            "aggregationTemporality": CUMULATIVE, "dataPoints": points,
        } }),
    };
    with(
        json!({ "name": family.name, "description": family.help }),
        data,
    )
}
