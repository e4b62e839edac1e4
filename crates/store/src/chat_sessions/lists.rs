//! Lists and counts of sessions.

use super::ChatSessionRow;
use crate::letter_case::lower_case;
use crate::sql::{columns, query};
use crate::{Conn, Engine, StoreError};
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::SessionId;

/// The number of sessions with one combination of tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaggedChatSessions {
    /// The tags, in the format of [`ChatSessionRow`].
    pub tags: String,
    pub sessions: i64,
}

columns! { TaggedChatSessions: tags, sessions }

/// Filter and range of a listing.
#[derive(Clone, Debug)]
pub struct ChatSessionPage {
    /// Only sessions whose label, key, ID, tag or text contains this text. The results of tools are not searched.
    pub q: Option<String>,
    /// Whether to search for `q` in names only, and not in messages.
    pub in_names_only: bool,
    /// Only sessions that a webhook started, or only sessions that no webhook started.
    pub of_webhooks: Option<bool>,
    pub pinned: Option<bool>,
    pub archived: Option<bool>,
    /// Only sessions with a share link, or only sessions without one.
    pub shared: Option<bool>,
    /// Only sessions with this tag, ignoring case.
    pub tag: Option<String>,
    /// Start of the period of the last message, inclusive.
    pub from: Option<Timestamp>,
    /// End of the period of the last message, exclusive.
    pub until: Option<Timestamp>,
    /// Only sessions after this position in list order: the `updated_at` and the ID of a session.
    pub after: Option<(Timestamp, String)>,
    /// Maximum number of sessions.
    pub limit: i64,
}

/// Returns the query for a page of sessions. The query uses the index on the time of the last message.
pub(super) fn list(engine: Engine) -> String {
    let [label, key, id, tags, content] = ["s.label", "s.key", "s.id", "s.tags", "m.content"]
        .map(|column| engine.contains(column, 3, 4));
    let tag = engine.contains("s.tags", 13, 12);
    format!(
        "SELECT s.*, h.id AS share_id FROM chat_sessions s
         LEFT JOIN chat_shares h ON h.session_id = s.id
         WHERE (s.updated_at < $1 OR (s.updated_at = $1 AND s.id < $2))
           AND ($3 = '' OR {label} OR {key} OR {id} OR {tags}
                OR ($11 = 0 AND EXISTS (SELECT 1 FROM chat_messages m WHERE m.session_id = s.id
                    AND m.role IN ('user', 'assistant') AND {content})))
           AND (CASE WHEN s.source = 'webhook' THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END = $6
                OR $6 < 0)
           AND (s.pinned = $7 OR $7 < 0) AND (s.archived = $8 OR $8 < 0)
           AND s.updated_at >= $9 AND s.updated_at < $10
           AND (CASE WHEN h.id IS NULL THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END = $14
                OR $14 < 0)
           AND ($12 = '' OR (s.tags <> '' AND $13 <> '' AND {tag}))
         ORDER BY s.updated_at DESC, s.id DESC LIMIT $5"
    )
}

impl Conn {
    /// Lists sessions, most recently used first.
    pub async fn list_chat_sessions(
        &mut self,
        page: &ChatSessionPage,
    ) -> Result<Vec<ChatSessionRow>, StoreError> {
        // Without a starting session, starts after the greatest possible position.
        let (at, id) = match &page.after {
            Some((at, id)) => (at.as_millis(), id.as_str()),
            None => (i64::MAX, ""),
        };
        let query = query(list(self.engine()));
        let raw = page.q.as_deref().unwrap_or_default();
        let lower = lower_case(raw);
        let wanted = |flag: Option<bool>| flag.map_or(-1, i64::from);
        let query = query.bind(at).bind(id).bind(raw).bind(lower);
        let query = query.bind(page.limit).bind(wanted(page.of_webhooks));
        let query = query.bind(wanted(page.pinned)).bind(wanted(page.archived));
        let from = page.from.map_or(i64::MIN, Timestamp::as_millis);
        let until = page.until.map_or(i64::MAX, Timestamp::as_millis);
        let query = query.bind(from).bind(until);
        let query = query.bind(i64::from(page.in_names_only));
        let line = |tag: &String| format!("\n{tag}\n");
        let tag = page.tag.as_ref().map(line).unwrap_or_default();
        let query = query.bind(lower_case(&tag)).bind(tag);
        self.list(query.bind(wanted(page.shared))).await
    }

    /// Returns the first message of a person or of the agent in a session that contains this text.
    pub async fn find_chat_message_with(
        &mut self,
        session: &SessionId,
        q: &str,
    ) -> Result<Option<String>, StoreError> {
        let query = query(format!(
            "SELECT content FROM chat_messages
             WHERE session_id = $1 AND role IN ('user', 'assistant') AND {}
             ORDER BY turn_no, seq LIMIT 1",
            self.engine().contains("content", 2, 3)
        ));
        self.find(query.bind(session.as_str()).bind(q).bind(lower_case(q)))
            .await
    }

    pub async fn count_chat_sessions(&mut self) -> Result<i64, StoreError> {
        self.number(query("SELECT CAST(COUNT(*) AS BIGINT) FROM chat_sessions"))
            .await
    }

    /// Counts the sessions of each combination of tags.
    pub async fn count_chat_session_tags(&mut self) -> Result<Vec<TaggedChatSessions>, StoreError> {
        let query = query(
            "SELECT tags, CAST(COUNT(*) AS BIGINT) AS sessions FROM chat_sessions
             WHERE tags <> '' GROUP BY tags ORDER BY tags",
        );
        self.list(query).await
    }
}
