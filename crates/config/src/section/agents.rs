//! `[agents]`: limits of an agent's turn.

use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};
use crate::merge::{Bad, Reader};
use gatehouse_domain::Zone;
use std::time::Duration;

pub(crate) const KEYS: &[KeySpec] = &[
    KeySpec {
        key: "agents.turn_timeout_seconds",
        kind: Kind::Whole {
            min: 1,
            max: 86_400,
        },
        default: Initial::Whole(600),
        doc: "Seconds after which a turn is stopped, including its model calls, tools and approvals.",
        example: "",
        guard: Guard::Write,
        change: Change::Live,
    },
    KeySpec {
        key: "agents.timezone",
        kind: Kind::Text(Rule::Zone),
        default: Initial::Unset,
        doc: "Time zone of the date that agents receive. By default the zone of the machine.",
        example: "\"Europe/Berlin\"",
        guard: Guard::Write,
        change: Change::Live,
    },
];

/// The section `[agents]`.
#[derive(Clone, Debug)]
pub struct Agents {
    pub turn_timeout: Duration,
    /// `None`: the zone of the machine.
    pub timezone: Option<Zone>,
}

impl Agents {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, Bad> {
        Ok(Self {
            turn_timeout: Duration::from_secs(reader.whole("agents.turn_timeout_seconds")?),
            timezone: reader.optional("agents.timezone")?,
        })
    }
}
