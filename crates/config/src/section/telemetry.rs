//! `[telemetry]`: traces and metrics for a collector.

use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};
use crate::merge::{InvalidSetting, Reader};
use url::Url;

pub(crate) const KEYS: &[KeySpec] = &[KeySpec {
    key: "telemetry.otlp_endpoint",
    kind: Kind::Text(Rule::WebUrl),
    default: Initial::Unset,
    doc: "Send OpenTelemetry traces and metrics to this collector by OTLP/HTTP in JSON, below /v1/traces and /v1/metrics.",
    example: "\"http://127.0.0.1:4318\"",
    guard: Guard::StepUp,
    change: Change::Restart,
}];

/// The section `[telemetry]`.
#[derive(Clone, Debug)]
pub struct Telemetry {
    /// The base URL of a collector; nothing is sent without one.
    pub otlp_endpoint: Option<Url>,
}

impl Telemetry {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, InvalidSetting> {
        Ok(Self {
            otlp_endpoint: reader.optional("telemetry.otlp_endpoint")?,
        })
    }
}
