//! Table `chat_sessions`: conversations with agents.

mod lists;
mod row;

use crate::pieces::{PIECE_MESSAGES, first_within};
use crate::sql::{FromRow, Row, columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::SessionId;
pub use lists::{ChatSessionPage, TaggedChatSessions};
pub use row::ChatSessionRow;

/// A session that has no turn and no recent message, and may be deleted.
struct Idle {
    id: SessionId,
    message_count: i64,
}

columns! { Idle: id, message_count }

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

    /// Deletes sessions without a new message since a time, except pinned sessions and sessions with a turn.
    /// Deletes at most `limit` sessions and at most 5,000 messages; a single larger session is deleted completely.
    /// Returns the IDs.
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
