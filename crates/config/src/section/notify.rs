//! `[notify]`: the channels that get a message when something needs the owner's attention. For approvals, see
//! `approvals.notify`.

use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};
use crate::merge::{InvalidSetting, Reader};

pub(crate) const KEYS: &[KeySpec] = &[
    targets(
        "notify.delivery_failed",
        "Channels that get a message when a delivery fails, as `type` or `type:account`. Further failures of the \
         same webhook within 15 minutes are combined into one message.",
    ),
    targets(
        "notify.webhook_refuses",
        "Channels that get a message when a webhook has refused 10 requests and accepted none in between.",
    ),
    targets(
        "notify.budget_warning",
        "Channels that get a message when 80 % of a budget is used.",
    ),
    targets(
        "notify.health",
        "Channels that get a message when one of these health checks has failed for five minutes, and when it \
         passes again: the disk, the clock, the certificate, backups, copies of the audit log, the queue, channels and \
         senders.",
    ),
];

const fn targets(key: &'static str, doc: &'static str) -> KeySpec {
    KeySpec {
        key,
        kind: Kind::List(Rule::Line),
        default: Initial::Empty,
        doc,
        example: "[\"telegram:me\"]",
        guard: Guard::Admin,
        change: Change::Live,
    }
}

/// The section `[notify]`. Targets have the format of `deliver_to`.
#[derive(Clone, Debug)]
pub struct Notify {
    pub delivery_failed: Vec<String>,
    pub webhook_refuses: Vec<String>,
    pub budget_warning: Vec<String>,
    pub health: Vec<String>,
}

impl Notify {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, InvalidSetting> {
        Ok(Self {
            delivery_failed: reader.list("notify.delivery_failed")?,
            webhook_refuses: reader.list("notify.webhook_refuses")?,
            budget_warning: reader.list("notify.budget_warning")?,
            health: reader.list("notify.health")?,
        })
    }
}
