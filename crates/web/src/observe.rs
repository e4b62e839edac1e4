//! What is told about requests: one canonical log line each, and metrics. Labels are bounded: a route
//! is named by its pattern in the table, never by its path, which may hold a secret.

use crate::gate::Peer;
use axum::response::Response;
use gatehouse_auth::{AuthMethod, Decision, Visit};
use gatehouse_domain::RequestId;
use http::Method;
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use std::net::IpAddr;
use std::sync::OnceLock;
use std::time::Instant;

/// The pattern of the route that answered, put beside the response by the route table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RouteName(pub &'static str);

/// What is known of a request on its way through.
pub(crate) struct Trail {
    started: Instant,
    method: Method,
    client: IpAddr,
    https: bool,
    identity: &'static str,
}

impl Trail {
    pub(crate) fn begin(method: &Method, peer: Peer) -> Self {
        Self {
            started: Instant::now(),
            method: method.clone(),
            client: peer.address.ip(),
            https: peer.over_tls,
            identity: "unknown",
        }
    }

    pub(crate) fn recognised(&mut self, visit: &Visit) {
        self.client = visit.client.ip;
        self.https = visit.https;
        self.identity = match &visit.decision {
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

/// Methods that any client may send are a bounded label; others are one.
fn method_label(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

pub(crate) fn record(response: &Response, id: &RequestId, trail: &Trail) {
    let route = response.extensions().get::<RouteName>().map_or("none", |name| name.0);
    let elapsed = trail.started.elapsed();
    let status = response.status();
    let method = method_label(&trail.method);
    metrics::counter!(
        "http_requests_total",
        "route" => route, "method" => method, "status" => status_class(status.as_u16())
    )
    .increment(1);
    metrics::histogram!("http_request_duration_seconds", "route" => route).record(elapsed);
    tracing::info!(
        target: "gatehouse::request",
        request_id = id.as_str(),
        method,
        route,
        status = status.as_u16(),
        duration_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX),
        client = %trail.client,
        identity = trail.identity,
        "request"
    );
}

const fn status_class(status: u16) -> &'static str {
    match status / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}

static RECORDER: OnceLock<PrometheusHandle> = OnceLock::new();

/// Installs the recorder once per process and gives its handle: several servers in one process, as in
/// tests, share it.
pub fn install_metrics() -> Result<PrometheusHandle, BuildError> {
    if let Some(handle) = RECORDER.get() {
        return Ok(handle.clone());
    }
    let seconds = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];
    let sizes = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &seconds)?
        .set_buckets_for_metric(Matcher::Full("store_group_size".to_owned()), &sizes)?
        .install_recorder();
    match handle {
        Ok(handle) => Ok(RECORDER.get_or_init(|| handle).clone()),
        // Another thread was first.
        Err(error) => RECORDER.get().cloned().ok_or(error),
    }
}
