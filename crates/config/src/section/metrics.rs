//! `[metrics]`: metrics for monitoring.

use crate::key::{Change, Guard, Initial, KeySpec, Kind};
use crate::merge::{Bad, Reader};

pub(crate) const KEYS: &[KeySpec] = &[KeySpec {
    key: "metrics.enabled",
    kind: Kind::Flag,
    default: Initial::Flag(true),
    doc: "Serve /metrics to callers with operator.read.",
    example: "",
    guard: Guard::Write,
    change: Change::Restart,
}];

/// `[metrics]`
#[derive(Clone, Debug)]
pub struct Metrics {
    /// Whether `/metrics` is served.
    pub enabled: bool,
}

impl Metrics {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, Bad> {
        Ok(Self {
            enabled: reader.flag("metrics.enabled")?,
        })
    }
}
