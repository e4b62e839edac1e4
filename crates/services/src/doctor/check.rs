//! The outcome of a check.

use schemars::JsonSchema;
use serde::Serialize;

/// The IDs of all checks, sorted. The web UI has texts for each (`cargo xtask gen`).
pub const IDS: &[&str] = &[
    "approval_channels",
    "audit_export",
    "auth",
    "backup",
    "backup_drill",
    "backup_encrypted",
    "before_setup",
    "certificate",
    "channels",
    "clock",
    "config",
    "damaged_webhooks",
    "data_directory",
    "database",
    "disk",
    "external_url",
    "held_deliveries",
    "locality",
    "mcp",
    "mcp_variables",
    "metrics_token",
    "plaintext_secrets",
    "profiles",
    "provider_keys",
    "proxy",
    "queue",
    "received_messages",
    "schedules",
    "senders",
    "setup",
    "shared_unseal",
    "telemetry",
    "tls",
    "vault",
    "voice",
    "webhooks",
];

/// The outcome of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// The ID of the check.
    pub id: &'static str,
    /// Whether the check passed.
    pub ok: bool,
    pub message: String,
    /// The suggested fix, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether the check failed and needs action now, because deliveries or data are at risk.
    #[serde(default, skip_serializing_if = "is_false")]
    pub urgent: bool,
    /// The failed parts, if the check covers several webhooks, channels or files. Empty if it passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<Subject>,
    /// Whether the failure affects only this node, although the check covers the installation.
    #[serde(skip)]
    pub(crate) is_of_node: bool,
}

/// One part of a check that covers several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Subject {
    /// The id of the webhook or channel, or the name of the setting.
    pub id: String,
    /// The display name.
    pub name: String,
    /// The failure, as a sentence.
    pub message: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_false(value: &bool) -> bool {
    !*value
}

impl Check {
    /// Creates a check that passed.
    pub fn fine(id: &'static str, message: impl Into<String>) -> Self {
        Self::new(id, message.into(), None)
    }

    /// Creates a check that failed, with the suggested fix.
    pub fn bad(id: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(id, message.into(), Some(hint.into()))
    }

    fn new(id: &'static str, message: String, hint: Option<String>) -> Self {
        debug_assert!(
            IDS.contains(&id),
            "add the check `{id}` to `doctor::check::IDS`"
        );
        Self {
            id,
            ok: hint.is_none(),
            message,
            hint,
            urgent: false,
            subjects: Vec::new(),
            is_of_node: false,
        }
    }

    /// Marks the failure as one of this node. Results of other nodes do not end it.
    pub(crate) fn of_this_node(self) -> Self {
        Self {
            is_of_node: true,
            ..self
        }
    }

    /// Sets the failed parts.
    pub(crate) fn about(self, subjects: Vec<Subject>) -> Self {
        Self { subjects, ..self }
    }
}
