//! `[metrics]`: metrics for monitoring.

use super::declare::settings;
use crate::key::Change::Restart;

settings! {
    /// The section `[metrics]`.
    metrics Metrics {
        /// Serve /metrics to callers with operator.read.
        enabled: bool = flag(true), Write, Restart;
    }
}
