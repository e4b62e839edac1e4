//! A session as callers see it.

use crate::tags::tags_of;
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::SessionId;
use gatehouse_store::ChatSessionRow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of request that created a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    User,
    Webhook,
    Channel,
    /// A request to the OpenAI-compatible API. The session exists until it is answered.
    Api,
}

impl Source {
    /// Returns the stored and serialized name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Webhook => "webhook",
            Self::Channel => "channel",
            Self::Api => "api",
        }
    }

    /// Parses the stored name. An unknown name maps to the least trusted source.
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "user" => Self::User,
            "channel" => Self::Channel,
            "api" => Self::Api,
            _ => Self::Webhook,
        }
    }
}

/// A conversation with an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a field of its own on the wire"
)]
pub struct Session {
    pub id: SessionId,
    /// An alternative ID, equally unique.
    pub key: String,
    /// The display name.
    pub label: String,
    /// The agent that answers.
    pub agent_id: String,
    pub created_at: Timestamp,
    /// When the last message was stored.
    pub updated_at: Timestamp,
    pub message_count: u64,
    /// What created it.
    pub source: Source,
    /// Whether it contains untrusted text that no person has cleared. Calls with an effect then need approval, and the
    /// turns of a webhook's session can use only public tools.
    pub tainted: bool,
    /// The ID of its share, when it is shared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_id: Option<String>,
    /// Whether the owner keeps it at the top of the list.
    pub pinned: bool,
    /// Whether the owner keeps it out of the list.
    pub archived: bool,
    /// Words by which the owner groups sessions.
    pub tags: Vec<String>,
    /// Whether a turn runs in it now, on the node that handles the request.
    pub running: bool,
    /// In a search: the text around the match in the first message that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
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
            pinned: row.pinned,
            archived: row.archived,
            tags: tags_of(&row.tags).map(str::to_owned).collect(),
            running: false,
            excerpt: None,
        }
    }
}
