//! `[metrics]`: metrics for monitoring.

use super::declare::section;
use crate::key::Change::Restart;

section! {
    /// `[metrics]`
    metrics Metrics {
        /// Serve /metrics to callers with operator.read.
        enabled: bool = flag(true), Write, Restart;
    }
}
