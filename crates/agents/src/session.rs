//! A session as callers see it.

use gatehouse_domain::Timestamp;
use gatehouse_domain::id::SessionId;
use gatehouse_store::ChatSessionRow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who began a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Somebody here.
    User,
    /// A webhook.
    Webhook,
    /// A channel.
    Channel,
}

impl Source {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Webhook => "webhook",
            Self::Channel => "channel",
        }
    }

    /// What is stored; an unknown word is trusted least.
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "user" => Self::User,
            "channel" => Self::Channel,
            _ => Self::Webhook,
        }
    }
}

/// A conversation with an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Its other name, as unique.
    pub key: String,
    /// What people call it.
    pub label: String,
    /// Which agent answers.
    pub agent_id: String,
    /// When it began.
    pub created_at: Timestamp,
    /// When something was last said in it.
    pub updated_at: Timestamp,
    /// How many messages it has.
    pub message_count: u64,
    /// Who began it.
    pub source: Source,
    /// Whether webhook text ever came in: its turns have public tools only, for ever.
    pub tainted: bool,
    /// Its share, when it is shared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_id: Option<String>,
    /// Whether an agent answers in it right now, on the node that was asked.
    pub running: bool,
}

impl From<ChatSessionRow> for Session {
    fn from(row: ChatSessionRow) -> Self {
        Self {
            source: Source::of(&row.source),
            message_count: u64::try_from(row.message_count).unwrap_or(0),
            id: row.id,
            key: row.key,
            label: row.label,
            agent_id: row.agent_id,
            created_at: row.created_at,
            updated_at: row.updated_at,
            tainted: row.tainted,
            share_id: row.share_id,
            running: false,
        }
    }
}
