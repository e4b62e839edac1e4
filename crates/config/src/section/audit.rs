//! `[audit]`: retention of the audit log.

use crate::key::{Change, Guard, Initial, KeySpec, Kind};
use crate::merge::{Bad, Reader};

pub(crate) const KEYS: &[KeySpec] = &[KeySpec {
    key: "audit.retention_days",
    kind: Kind::Whole {
        min: 30,
        max: 36_500,
    },
    default: Initial::Whole(400),
    doc: "Days to keep rows of the audit log.",
    example: "",
    guard: Guard::StepUp,
    change: Change::Live,
}];

/// `[audit]`
#[derive(Clone, Debug)]
pub struct Audit {
    pub retention_days: u32,
}

impl Audit {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, Bad> {
        Ok(Self {
            retention_days: reader.whole("audit.retention_days")?,
        })
    }
}
