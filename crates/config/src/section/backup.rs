//! `[backup]`: regular backups.

use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};
use crate::merge::{InvalidSetting, Reader};
use std::path::PathBuf;

pub(crate) const KEYS: &[KeySpec] = &[
    KeySpec {
        key: "backup.schedule",
        kind: Kind::Text(Rule::Cron),
        default: Initial::Unset,
        doc: "When to make a backup, as a cron pattern in the time zone of the machine. If unset, backups are only \
              made on request.",
        example: "\"30 3 * * *\"",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "backup.to",
        kind: Kind::Text(Rule::File),
        default: Initial::Unset,
        doc: "Directory for backups. A relative path starts at the data directory, where the default `backups` is. \
              Outside of the data directory, it must exist.",
        example: "\"/mnt/backups\"",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "backup.keep",
        kind: Kind::Whole {
            min: 1,
            max: 10_000,
        },
        default: Initial::Whole(14),
        doc: "Backups to keep in the directory after a scheduled backup; older ones are deleted.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "backup.drill_days",
        kind: Kind::Whole { min: 0, max: 365 },
        default: Initial::Whole(7),
        doc: "Days between two trial restores of the newest backup in the directory. An encrypted one is restored only \
              directly after the server has made it; of others, only the file is checked. 0 turns trial restores off.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "backup.recipient",
        kind: Kind::Text(Rule::Line),
        default: Initial::Unset,
        doc: "The age recipients that backups are encrypted to, with a comma between them; one is enough to decrypt. If \
              unset, scheduled backups are not encrypted.",
        example: "\"age1slgc7ysft3t0226a4zjmpjmlvwuc6la8hjmj86qhhtdnxfext3wqhpgu3d\"",
        guard: Guard::StepUp,
        change: Change::Live,
    },
];

/// The section `[backup]`.
#[derive(Clone, Debug)]
pub struct Backup {
    /// A valid cron pattern.
    pub schedule: Option<String>,
    /// Relative to the data directory; `None` for the default.
    pub to: Option<PathBuf>,
    pub keep: usize,
    /// 0 turns trial restores off.
    pub drill_days: u16,
    /// The recipient. It is not validated here: the crate `backup` parses it, and `services` checks it at startup
    /// and at changes.
    pub recipient: Option<String>,
}

impl Backup {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, InvalidSetting> {
        Ok(Self {
            schedule: reader.text("backup.schedule").map(str::to_owned),
            to: reader.text("backup.to").map(PathBuf::from),
            keep: reader.whole("backup.keep")?,
            drill_days: reader.whole("backup.drill_days")?,
            recipient: reader.text("backup.recipient").map(str::to_owned),
        })
    }
}
