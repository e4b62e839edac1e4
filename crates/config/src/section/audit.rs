//! `[audit]`: retention of the audit log.

use super::declare::settings;
use crate::key::Change::Live;

settings! {
    /// The section `[audit]`.
    audit Audit {
        /// Days to keep rows of the audit log.
        retention_days: u32 = whole(30, 400, 36_500), StepUp, Live;
    }
}
