//! Request logging and metrics: one canonical log line per request. Labels are bounded: a route is
//! identified by its pattern in the table, never by its path, which may contain a secret.

use crate::arrival::{MatchedRoute, Peer};
use crate::meters::{Meters, method_label};
use axum::response::Response;
use gatehouse_auth::{AuthMethod, Decision, RequestContext};
use gatehouse_domain::RequestId;
use http::Method;
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The facts about a request for the log and the metrics.
pub(crate) struct RequestRecord {
    started: Instant,
    method: Method,
    client: IpAddr,
    https: bool,
    identity: &'static str,
    /// The row that matched the request. The route table sets it.
    pub(crate) route: Arc<MatchedRoute>,
}

impl RequestRecord {
    pub(crate) fn begin(method: &Method, peer: Peer) -> Self {
        Self {
            started: Instant::now(),
            method: method.clone(),
            client: peer.address.ip(),
            https: peer.over_tls,
            identity: "unknown",
            route: Arc::default(),
        }
    }

    pub(crate) fn recognised(&mut self, context: &RequestContext) {
        self.client = context.client.ip;
        self.https = context.https;
        self.identity = match &context.decision {
            Decision::Allowed(identity) => match identity.method {
                AuthMethod::Loopback => "loopback",
                AuthMethod::Password => "session",
                AuthMethod::ApiKey => "api_key",
            },
            Decision::SetupRequired => "setup_required",
            Decision::Unauthorized => "none",
        };
    }

    pub(crate) const fn is_https(&self) -> bool {
        self.https
    }
}

pub(crate) fn record(meters: &Meters, response: &Response, id: &RequestId, record: &RequestRecord) {
    let route = record.route.row().map_or("none", |row| row.path);
    let status = response.status().as_u16();
    let elapsed = record.started.elapsed();
    meters.count(record.route.place(), &record.method, status, elapsed, route);
    tracing::info!(
        target: "gatehouse::request",
        request_id = id.as_str(),
        method = method_label(&record.method),
        route,
        status,
        duration_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX),
        client = %record.client,
        identity = record.identity,
        "request"
    );
}

/// The number of connections that were closed immediately because the client or the server already
/// has too many.
pub(crate) const CONNECTIONS_REFUSED: &str = "connections_refused_total";

static RECORDER: OnceLock<PrometheusHandle> = OnceLock::new();

/// Installs the recorder once per process and returns its handle. Several servers in one process, as in tests, use the
/// same recorder.
pub fn install_metrics() -> Result<PrometheusHandle, BuildError> {
    if let Some(handle) = RECORDER.get() {
        return Ok(handle.clone());
    }
    let handle = with_buckets(PrometheusBuilder::new())?.install_recorder();
    match handle {
        Ok(handle) => {
            // The counter exists from the start. Otherwise, a rate over it would miss the first
            // refusal.
            metrics::counter!(CONNECTIONS_REFUSED).increment(0);
            Ok(RECORDER.get_or_init(|| handle).clone())
        }
        // Another thread has already installed the recorder.
        Err(error) => RECORDER.get().cloned().ok_or(error),
    }
}

/// The histograms of agent turns, which last as long as their models and tools: up to
/// `agents.turn_timeout_seconds`.
const TURNS: [&str; 2] = [
    "agent_turn_duration_seconds",
    "webhooks_processing_duration_seconds",
];

/// Sets the buckets of the histograms.
fn with_buckets(builder: PrometheusBuilder) -> Result<PrometheusBuilder, BuildError> {
    let seconds = [
        0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0,
    ];
    let turns = [0.1, 0.5, 1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 900.0];
    let sizes = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];
    let mut builder = builder
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &seconds)?
        .set_buckets_for_metric(Matcher::Full("store_group_size".to_owned()), &sizes)?;
    for name in TURNS {
        builder = builder.set_buckets_for_metric(Matcher::Full(name.to_owned()), &turns)?;
    }
    Ok(builder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_histograms_of_turns_distinguish_long_turns() {
        let recorder = with_buckets(PrometheusBuilder::new())
            .unwrap()
            .build_recorder();
        metrics::with_local_recorder(&recorder, || {
            for name in [
                "agent_turn_duration_seconds",
                "webhooks_processing_duration_seconds",
            ] {
                metrics::histogram!(name).record(31.0);
                metrics::histogram!(name).record(600.0);
            }
            metrics::histogram!("rpc_call_duration_seconds", "method" => "chat.send").record(31.0);
        });
        let text = recorder.handle().render();
        for line in [
            r#"agent_turn_duration_seconds_bucket{le="30"} 0"#,
            r#"agent_turn_duration_seconds_bucket{le="60"} 1"#,
            r#"agent_turn_duration_seconds_bucket{le="900"} 2"#,
            r#"webhooks_processing_duration_seconds_bucket{le="30"} 0"#,
            r#"webhooks_processing_duration_seconds_bucket{le="60"} 1"#,
            r#"webhooks_processing_duration_seconds_bucket{le="900"} 2"#,
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        let rpc = text
            .lines()
            .filter(|line| line.starts_with("rpc_call_duration_seconds_bucket"));
        assert!(
            rpc.clone().any(|line| line.contains(r#"le="30""#)),
            "{text}"
        );
        assert!(
            !rpc.clone().any(|line| line.contains(r#"le="900""#)),
            "{text}"
        );
    }
}
