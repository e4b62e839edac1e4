//! The row of `chat_sessions`.

use crate::sql::columns;
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::SessionId;

/// A row of `chat_sessions`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a column of its own")]
pub struct ChatSessionRow {
    pub id: SessionId,
    /// A second unique name of the session.
    pub key: String,
    /// Display name.
    pub label: String,
    /// The agent that answers.
    pub agent_id: String,
    /// `user`, `webhook` or `channel`.
    pub source: String,
    /// Whether the session contains untrusted text that no person has cleared.
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
    /// Whether the owner pinned the session to the top of the list.
    pub pinned: bool,
    /// Whether the owner archived the session, which hides it from the list.
    pub archived: bool,
    /// Empty, or the tags, each on its own line. A line break precedes the first tag and follows the last one.
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
