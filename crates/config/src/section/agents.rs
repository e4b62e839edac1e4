//! `[agents]`: limits of an agent's turn.

use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};
use crate::merge::{InvalidSetting, Reader};
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
    days(
        "agents.retention_days",
        "Days after the last message until a conversation is deleted; 0 keeps all. Pinned conversations \
         are kept.",
    ),
    days(
        "agents.audio_retention_days",
        "Days until recorded and synthesized audio of a conversation is deleted; 0 keeps it as long as \
         the conversation.",
    ),
    days(
        "agents.attachment_retention_days",
        "Days until a file of a conversation is deleted; 0 keeps it as long as the conversation.",
    ),
    KeySpec {
        key: "agents.usage_retention_days",
        kind: Kind::Whole {
            min: 31,
            max: 36_500,
        },
        default: Initial::Whole(400),
        doc: "Days to keep the daily usage of models. Budgets need the current month.",
        example: "",
        guard: Guard::Write,
        change: Change::Live,
    },
    KeySpec {
        key: "agents.attachment_max_bytes",
        kind: Kind::Whole {
            min: 1024,
            max: 25 << 20,
        },
        default: Initial::Whole(10 << 20),
        doc: "The largest file that can be attached to a message, in bytes.",
        example: "",
        guard: Guard::Write,
        change: Change::Live,
    },
    KeySpec {
        key: "agents.attachments_total_bytes",
        kind: Kind::Whole {
            min: 0,
            max: 1 << 40,
        },
        default: Initial::Whole(1 << 30),
        doc: "The maximum total size of the files of all conversations, in bytes. When it is exceeded, the \
              oldest files are deleted, those of deliveries first.",
        example: "",
        guard: Guard::Write,
        change: Change::Live,
    },
];

const fn days(key: &'static str, doc: &'static str) -> KeySpec {
    KeySpec {
        key,
        kind: Kind::Whole {
            min: 0,
            max: 36_500,
        },
        default: Initial::Whole(0),
        doc,
        example: "",
        guard: Guard::Write,
        change: Change::Live,
    }
}

const DAY: Duration = Duration::from_hours(24);

/// The section `[agents]`.
#[derive(Clone, Debug)]
pub struct Agents {
    pub turn_timeout: Duration,
    /// The default time zone; `None` for the zone of the machine.
    pub timezone: Option<Zone>,
    /// How long a conversation is kept after its last message; `None` for no limit.
    pub retention: Option<Duration>,
    /// How long audio of a conversation is kept; `None` for as long as the conversation.
    pub audio_retention: Option<Duration>,
    /// The maximum size of a file of a message.
    pub attachment_max_bytes: u64,
    /// The maximum total size of the files of all conversations.
    pub attachments_total_bytes: u64,
    /// How long a file of a conversation is kept; `None` for as long as the conversation.
    pub attachment_retention: Option<Duration>,
    /// How long the daily usage of models is kept.
    pub usage_retention: Duration,
}

impl Agents {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, InvalidSetting> {
        let kept = |days: u32| (days > 0).then(|| DAY.saturating_mul(days));
        Ok(Self {
            turn_timeout: Duration::from_secs(reader.whole("agents.turn_timeout_seconds")?),
            timezone: reader.optional("agents.timezone")?,
            retention: kept(reader.whole("agents.retention_days")?),
            audio_retention: kept(reader.whole("agents.audio_retention_days")?),
            attachment_max_bytes: reader.whole("agents.attachment_max_bytes")?,
            attachments_total_bytes: reader.whole("agents.attachments_total_bytes")?,
            attachment_retention: kept(reader.whole("agents.attachment_retention_days")?),
            usage_retention: DAY.saturating_mul(reader.whole("agents.usage_retention_days")?),
        })
    }
}
