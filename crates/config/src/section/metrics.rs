//! `[metrics]`: metrics for monitoring.

use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};
use crate::merge::{InvalidSetting, Reader};
use secrecy::SecretString;
use std::net::SocketAddr;

pub(crate) const KEYS: &[KeySpec] = &[
    KeySpec {
        key: "metrics.enabled",
        kind: Kind::Flag,
        default: Initial::Flag(true),
        doc: "Serve /metrics to callers with operator.read.",
        example: "",
        guard: Guard::Write,
        change: Change::Restart,
    },
    KeySpec {
        key: "metrics.bind",
        kind: Kind::Text(Rule::Address),
        default: Initial::Unset,
        doc: "Also serve /metrics on this address and port, without TLS. If metrics.token is unset, everyone who \
              can connect can read it.",
        example: "\"127.0.0.1:9464\"",
        guard: Guard::StepUp,
        change: Change::Restart,
    },
    KeySpec {
        key: "metrics.token",
        kind: Kind::Text(Rule::Secret),
        default: Initial::Unset,
        doc: "Bearer token for /metrics. Checked without the database.",
        example: "\"…\"",
        guard: Guard::StepUp,
        change: Change::Restart,
    },
];

/// The section `[metrics]`.
#[derive(Clone, Debug)]
pub struct Metrics {
    pub enabled: bool,
    /// An additional listener that serves only metrics.
    pub bind: Option<SocketAddr>,
    /// A credential that grants access to metrics only.
    pub token: Option<SecretString>,
}

impl Metrics {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, InvalidSetting> {
        Ok(Self {
            enabled: reader.flag("metrics.enabled")?,
            bind: reader.optional("metrics.bind")?,
            token: reader.text("metrics.token").map(SecretString::from),
        })
    }
}
