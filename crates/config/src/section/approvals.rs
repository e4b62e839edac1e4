//! `[approvals]`: how long tool calls wait for approval, and notifications about them through channels.

use crate::invalid_value::InvalidValue;
use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};
use crate::merge::{InvalidSetting, Reader};
use std::str::FromStr;
use std::time::Duration;

const LINKS: &[&str] = &["sign_in", "bearer"];

pub(crate) const KEYS: &[KeySpec] = &[
    KeySpec {
        key: "approvals.notify",
        kind: Kind::List(Rule::Line),
        default: Initial::Empty,
        doc: "Channels that get a message with a link when a tool call waits for approval: `type` or \
              `type:account`, as in a webhook's deliver_to. The direct chat of a trusted person also gets buttons.",
        example: "[\"telegram:me\"]",
        guard: Guard::Admin,
        change: Change::Live,
    },
    KeySpec {
        key: "approvals.links",
        kind: Kind::Text(Rule::OneOf(LINKS)),
        default: Initial::Text("sign_in"),
        doc: "sign_in: a link opens the page, which asks for a login. bearer: the link itself is the credential; \
              it works once, until it expires.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "approvals.timeout_seconds",
        kind: Kind::Whole {
            min: 1,
            max: 86_400,
        },
        default: Initial::Whole(300),
        doc: "Seconds that a tool call waits for a person's approval. Without an answer it does not run. The time \
              counts toward agents.turn_timeout_seconds.",
        example: "",
        guard: Guard::Admin,
        change: Change::Live,
    },
];

/// The section `[approvals]`.
#[derive(Clone, Debug)]
pub struct Approvals {
    /// Targets in the format of `deliver_to`.
    pub notify: Vec<String>,
    pub links: ApprovalLinks,
    /// How long a call waits for an answer.
    pub timeout: Duration,
}

impl Approvals {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, InvalidSetting> {
        Ok(Self {
            notify: reader.list("approvals.notify")?,
            links: reader.required("approvals.links")?,
            timeout: Duration::from_secs(reader.whole("approvals.timeout_seconds")?),
        })
    }
}

/// The callers that may answer through a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalLinks {
    /// Only a logged-in caller with `operator.approvals`.
    SignIn,
    /// Every caller: the token in the link is the credential.
    Bearer,
}

impl FromStr for ApprovalLinks {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        match text {
            "sign_in" => Ok(Self::SignIn),
            "bearer" => Ok(Self::Bearer),
            _ => Err(InvalidValue::expected_one_of(LINKS)),
        }
    }
}
