//! The row of `chat_sessions`.

use crate::sql::columns;
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::SessionId;

/// A row of `chat_sessions`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a column of its own")]
pub struct ChatSessionRow {
    pub id: SessionId,
    /// A second unique name.
    pub key: String,
    /// Display name.
    pub label: String,
    /// The agent that answers.
    pub agent_id: String,
    /// `user`, `webhook` or `channel`.
    pub source: String,
    /// Whether the session contains text by a stranger that no person has cleared.
    pub tainted: bool,
    /// Whether the session contains private data: files, or output of a tool.
    pub private: bool,
    pub message_count: i64,
    /// The last number assigned to a message.
    pub last_seq: i64,
    /// The last number assigned to a turn.
    pub last_turn: i64,
    /// Summary of the conversation up to and including turn `summary_turn`.
    pub summary: Option<String>,
    /// The last turn that the summary covers; 0 if there is no summary.
    pub summary_turn: i64,
    /// `stranger` if the summary covers untrusted text, otherwise `model`.
    pub summary_origin: String,
    pub share_id: Option<String>,
    /// Whether the owner keeps it at the top of the list.
    pub pinned: bool,
    /// Whether the owner keeps it out of the list.
    pub archived: bool,
    /// Empty, or each tag on a line of its own, between a first and a last line break.
    pub tags: String,
    pub created_at: Timestamp,
    /// When the last message was added.
    pub updated_at: Timestamp,
}

columns! {
    ChatSessionRow:
    id, key, label, agent_id, source, tainted, private, message_count, last_seq, last_turn,
    summary, summary_turn, summary_origin, share_id, pinned, archived, tags, created_at,
    updated_at
}
