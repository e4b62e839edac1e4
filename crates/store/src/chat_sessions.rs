//! Table `chat_sessions`: conversations with agents.

use crate::letter_case::lower_case;
use crate::pieces::{PIECE_MESSAGES, first_within};
use crate::sql::{FromRow, Row, columns, query};
use crate::{Conn, Engine, StoreError};
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

/// Sessions that have the same tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaggedChatSessions {
    /// As in [`ChatSessionRow`].
    pub tags: String,
    /// The number of sessions.
    pub sessions: i64,
}

columns! { TaggedChatSessions: tags, sessions }

/// A session that may be deleted.
struct Idle {
    id: SessionId,
    message_count: i64,
}

columns! { Idle: id, message_count }

/// Filter and range of a listing.
#[derive(Clone, Debug)]
pub struct ChatSessionPage {
    /// Only sessions whose label, key, ID, tag or text contains this text. Results of tools are not searched.
    pub q: Option<String>,
    /// Whether messages are left out of the search for `q`.
    pub in_names_only: bool,
    /// Only sessions that a webhook started, or only the others.
    pub of_webhooks: Option<bool>,
    pub pinned: Option<bool>,
    pub archived: Option<bool>,
    /// Only sessions that anyone with the link can read, or only the others.
    pub shared: Option<bool>,
    /// Only sessions with this tag, in any case of letters.
    pub tag: Option<String>,
    /// Start of the period of the last message, inclusive.
    pub from: Option<Timestamp>,
    /// End of the period of the last message, exclusive.
    pub until: Option<Timestamp>,
    /// Only sessions after this one in list order: its `updated_at` and ID.
    pub after: Option<(Timestamp, String)>,
    /// Maximum number of sessions.
    pub limit: i64,
}

/// Returns the query for a page of sessions, by the index on the time of the last message.
fn list(engine: Engine) -> String {
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
    /// Stores a new session. Fails with `Duplicate` if the key is taken.
    pub async fn insert_chat_session(&mut self, row: &ChatSessionRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO chat_sessions (id, key, label, agent_id, source, tainted, created_at,
                 updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        );
        self.run(
            query
                .bind(row.id.as_str())
                .bind(&row.key)
                .bind(&row.label)
                .bind(&row.agent_id)
                .bind(&row.source)
                .bind(i64::from(row.tainted))
                .bind(row.created_at.as_millis())
                .bind(row.updated_at.as_millis()),
        )
        .await
        .map(drop)
    }

    pub async fn find_chat_session(
        &mut self,
        id: &SessionId,
    ) -> Result<Option<ChatSessionRow>, StoreError> {
        let query = query(
            "SELECT s.*, h.id AS share_id FROM chat_sessions s
             LEFT JOIN chat_shares h ON h.session_id = s.id WHERE s.id = $1",
        );
        self.find(query.bind(id.as_str())).await
    }

    pub async fn find_chat_session_by_key(
        &mut self,
        key: &str,
    ) -> Result<Option<ChatSessionRow>, StoreError> {
        let query = query(
            "SELECT s.*, h.id AS share_id FROM chat_sessions s
             LEFT JOIN chat_shares h ON h.session_id = s.id WHERE s.key = $1",
        );
        self.find(query.bind(key)).await
    }

    /// Sessions, most recently used first.
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

    /// Returns the first message of a session, of a person or the agent, that contains this text.
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

    /// Assigns the next turn number and records the turn's agent. Returns `None` if the session does not
    /// exist.
    pub async fn claim_chat_turn(
        &mut self,
        id: &SessionId,
        agent_id: &str,
    ) -> Result<Option<i64>, StoreError> {
        let query = query(
            "UPDATE chat_sessions SET last_turn = last_turn + 1, agent_id = $2
             WHERE id = $1 RETURNING last_turn",
        );
        let turn: Option<Number> = self.find(query.bind(id.as_str()).bind(agent_id)).await?;
        Ok(turn.map(|Number(turn)| turn))
    }

    /// Clears the taint of a session in which no turn waits or runs; `false` if one does.
    pub async fn clear_chat_session_taint(&mut self, id: &SessionId) -> Result<bool, StoreError> {
        let query = query(
            "UPDATE chat_sessions SET tainted = 0
             WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM chat_turns t WHERE t.session_id = $1)",
        );
        Ok(self.run(query.bind(id.as_str())).await? > 0)
    }

    /// Renames a session; `false` if it does not exist.
    pub async fn update_chat_session_label(
        &mut self,
        id: &SessionId,
        label: &str,
    ) -> Result<bool, StoreError> {
        let query = query("UPDATE chat_sessions SET label = $2 WHERE id = $1");
        Ok(self.run(query.bind(id.as_str()).bind(label)).await? > 0)
    }

    /// Pins, archives or tags a session; `None` keeps the stored value. `false` if the session does not exist.
    pub async fn update_chat_session_place(
        &mut self,
        id: &SessionId,
        (pinned, archived): (Option<bool>, Option<bool>),
        tags: Option<&str>,
    ) -> Result<bool, StoreError> {
        let query = query(
            "UPDATE chat_sessions SET pinned = COALESCE($2, pinned),
                 archived = COALESCE($3, archived), tags = COALESCE($4, tags) WHERE id = $1",
        );
        let query = query.bind(id.as_str()).bind(pinned.map(i64::from));
        let query = query.bind(archived.map(i64::from)).bind(tags);
        Ok(self.run(query).await? > 0)
    }

    /// Each combination of tags and how many sessions have it.
    pub async fn count_chat_session_tags(&mut self) -> Result<Vec<TaggedChatSessions>, StoreError> {
        let query = query(
            "SELECT tags, CAST(COUNT(*) AS BIGINT) AS sessions FROM chat_sessions
             WHERE tags <> '' GROUP BY tags ORDER BY tags",
        );
        self.list(query).await
    }

    /// Moves all sessions of one agent to another.
    pub async fn update_chat_session_agents(
        &mut self,
        from: &str,
        to: &str,
    ) -> Result<u64, StoreError> {
        let query = query("UPDATE chat_sessions SET agent_id = $2 WHERE agent_id = $1");
        self.run(query.bind(from).bind(to)).await
    }

    /// Stores a summary of everything up to and including a turn, and its origin, unless the stored summary
    /// covers more.
    pub async fn update_chat_session_summary(
        &mut self,
        id: &SessionId,
        (summary, origin): (&str, &str),
        through_turn: i64,
    ) -> Result<bool, StoreError> {
        let query = query(
            "UPDATE chat_sessions SET summary = $2, summary_turn = $3, summary_origin = $4
             WHERE id = $1 AND summary_turn < $3",
        );
        let query = query.bind(id.as_str()).bind(summary).bind(through_turn);
        let query = query.bind(origin);
        Ok(self.run(query).await? > 0)
    }

    /// Deletes a session with its messages, audio, files and share; `false` if it did not exist.
    pub async fn delete_chat_session(&mut self, id: &SessionId) -> Result<bool, StoreError> {
        let share = query("DELETE FROM chat_shares WHERE session_id = $1");
        self.run(share.bind(id.as_str())).await?;
        let messages = query("DELETE FROM chat_messages WHERE session_id = $1");
        self.run(messages.bind(id.as_str())).await?;
        let turns = query("DELETE FROM chat_turns WHERE session_id = $1");
        self.run(turns.bind(id.as_str())).await?;
        self.delete_session_audio(id).await?;
        self.delete_session_attachments(id).await?;
        let session = query("DELETE FROM chat_sessions WHERE id = $1");
        Ok(self.run(session.bind(id.as_str())).await? > 0)
    }

    /// Deletes some of the sessions without a new message since a time, except pinned ones and those with a turn: at
    /// most `limit`, and at most 5,000 messages unless it is a single session. Returns their IDs.
    pub async fn delete_idle_chat_sessions(
        &mut self,
        before: Timestamp,
        limit: i64,
    ) -> Result<Vec<SessionId>, StoreError> {
        let idle = query(
            "SELECT id, message_count FROM chat_sessions AS s
             WHERE updated_at < $1 AND pinned = 0
                 AND NOT EXISTS (SELECT 1 FROM chat_turns WHERE session_id = s.id)
             ORDER BY updated_at, id LIMIT $2",
        );
        let idle: Vec<Idle> = self.list(idle.bind(before.as_millis()).bind(limit)).await?;
        let idle = first_within(idle, PIECE_MESSAGES, |session| session.message_count);
        let idle: Vec<SessionId> = idle.into_iter().map(|session| session.id).collect();
        for id in &idle {
            self.delete_chat_session(id).await?;
        }
        Ok(idle)
    }
}

/// The single number of a `RETURNING` clause.
pub(crate) struct Number(pub(crate) i64);

impl FromRow for Number {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self(row.try_get(0)?))
    }
}

#[cfg(test)]
mod tests;
