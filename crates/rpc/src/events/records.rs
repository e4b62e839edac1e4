//! The kinds of records whose changes are reported.

use schemars::JsonSchema;
use serde::Serialize;

/// The kinds of records that `records.changed` reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Records {
    Agents,
    /// Sent if remembered approvals changed, or events of approvals may have been lost.
    Approvals,
    Budgets,
    Channels,
    Config,
    Deliveries,
    Env,
    Inbox,
    /// Sent only if events of conversations may have been lost.
    Messages,
    Preferences,
    Providers,
    Push,
    Sessions,
    SshKeys,
    Webhooks,
}

impl Records {
    pub(super) const ALL: [Self; 15] = [
        Self::Agents,
        Self::Approvals,
        Self::Budgets,
        Self::Channels,
        Self::Config,
        Self::Deliveries,
        Self::Env,
        Self::Inbox,
        Self::Messages,
        Self::Preferences,
        Self::Providers,
        Self::Push,
        Self::Sessions,
        Self::SshKeys,
        Self::Webhooks,
    ];

    /// Returns the methods that list these records.
    pub(crate) const fn returned_by(self) -> &'static [&'static str] {
        match self {
            Self::Agents => &["agents.list"],
            Self::Approvals => &["approval.list", "approval.remembered"],
            Self::Budgets => &["budgets.list"],
            Self::Channels => &["channels.list"],
            Self::Config => &["config.get"],
            Self::Deliveries => &["webhooks.deliveries"],
            Self::Env => &["env.list"],
            Self::Inbox => &["inbox.list"],
            Self::Messages => &["chat.history"],
            Self::Preferences => &["preferences.get"],
            Self::Providers => &["providers.list"],
            Self::Push => &["push.list"],
            Self::Sessions => &["sessions.list"],
            Self::SshKeys => &["ssh_keys.list"],
            Self::Webhooks => &["webhooks.list"],
        }
    }

    /// Maps a subject of the table `changes`.
    pub(super) fn of(subject: &str) -> Option<Self> {
        match subject {
            "agents" => Some(Self::Agents),
            "allowed_calls" => Some(Self::Approvals),
            "budgets" => Some(Self::Budgets),
            "channels" | "pairings" => Some(Self::Channels),
            "settings" => Some(Self::Config),
            "env" => Some(Self::Env),
            "inbox" => Some(Self::Inbox),
            "preferences" => Some(Self::Preferences),
            "provider_keys" => Some(Self::Providers),
            "push" => Some(Self::Push),
            "sessions" => Some(Self::Sessions),
            "ssh_keys" => Some(Self::SshKeys),
            "webhooks" => Some(Self::Webhooks),
            // Deliveries have no subject, because `webhooks.delivery` reports them. `auth.changed` and `vault.status`
            // report other subjects.
            _ => None,
        }
    }
}
