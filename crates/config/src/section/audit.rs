//! `[audit]`: retention of the audit log, and copies of it outside of the database.

use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};
use crate::merge::{Bad, Reader};
use std::path::PathBuf;

pub(crate) const KEYS: &[KeySpec] = &[
    KeySpec {
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
    },
    KeySpec {
        key: "audit.file",
        kind: Kind::Text(Rule::File),
        default: Initial::Unset,
        doc: "Also append each record of the audit log to this file, as a line of JSON. A relative path starts at the \
              data directory.",
        example: "\"/var/log/gatehouse/audit.jsonl\"",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "audit.syslog",
        kind: Kind::Text(Rule::File),
        default: Initial::Unset,
        doc: "Also send each record of the audit log to the local syslog, which reads from this Unix datagram socket.",
        example: "\"/dev/log\"",
        guard: Guard::StepUp,
        change: Change::Live,
    },
];

/// The section `[audit]`.
#[derive(Clone, Debug)]
pub struct Audit {
    pub retention_days: u32,
    /// Relative to the data directory.
    pub file: Option<PathBuf>,
    /// Relative to the data directory.
    pub syslog: Option<PathBuf>,
}

impl Audit {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, Bad> {
        let path = |key| reader.text(key).map(PathBuf::from);
        Ok(Self {
            retention_days: reader.whole("audit.retention_days")?,
            file: path("audit.file"),
            syslog: path("audit.syslog"),
        })
    }
}
