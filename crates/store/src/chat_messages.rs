//! Table `chat_messages`: what was said in a session, by people, agents and tools.

use crate::chat_sessions::Number;
use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{MessageId, SessionId, TurnId};

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessageRow {
    /// In which session.
    pub session_id: SessionId,
    /// In which turn of it: the first order of messages.
    pub turn_no: i64,
    /// Its number in the session: the second order, and the order in which they were stored. It is
    /// given at [`Conn::insert_chat_message`].
    pub seq: i64,
    /// Its id.
    pub id: MessageId,
    /// Its turn's id.
    pub turn_id: TurnId,
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// Whether a webhook brought it.
    pub from_webhook: bool,
    /// The text.
    pub content: String,
    /// The calls that an assistant's message asks for, as JSON text.
    pub tool_calls: Option<String>,
    /// Which call a tool's message answers.
    pub tool_call_id: Option<String>,
    /// Which tool it is from.
    pub tool_name: Option<String>,
    /// What the model read for it, in tokens.
    pub input_tokens: Option<i64>,
    /// What the model wrote for it, in tokens.
    pub output_tokens: Option<i64>,
    /// Which model wrote it.
    pub model: Option<String>,
    /// Its audio's id.
    pub audio: Option<String>,
    /// When it was stored.
    pub created_at: Timestamp,
}

impl ChatMessageRow {
    /// How many bytes its texts have.
    pub fn text_bytes(&self) -> usize {
        let calls = self.tool_calls.as_ref().map_or(0, String::len);
        self.content.len().saturating_add(calls)
    }
}

impl FromRow for ChatMessageRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            session_id: SessionId::from_text(row.try_get::<String, _>("session_id")?),
            turn_no: row.try_get("turn_no")?,
            seq: row.try_get("seq")?,
            id: MessageId::from_text(row.try_get::<String, _>("id")?),
            turn_id: TurnId::from_text(row.try_get::<String, _>("turn_id")?),
            role: row.try_get("role")?,
            from_webhook: row.try_get::<i64, _>("from_webhook")? != 0,
            content: row.try_get("content")?,
            tool_calls: row.try_get("tool_calls")?,
            tool_call_id: row.try_get("tool_call_id")?,
            tool_name: row.try_get("tool_name")?,
            input_tokens: row.try_get("input_tokens")?,
            output_tokens: row.try_get("output_tokens")?,
            model: row.try_get("model")?,
            audio: row.try_get("audio")?,
            created_at: Timestamp::from_millis(row.try_get("created_at")?),
        })
    }
}

impl Conn {
    /// Stores a message at the end of its turn; the number it got, or `None` when the session is gone.
    pub async fn insert_chat_message(
        &mut self,
        row: &ChatMessageRow,
    ) -> Result<Option<i64>, StoreError> {
        let session = query(
            "UPDATE chat_sessions SET last_seq = last_seq + 1, message_count = message_count + 1,
                 updated_at = $2
             WHERE id = $1 RETURNING last_seq",
        );
        let session = session.bind(row.session_id.as_str());
        let next = self.find(session.bind(row.created_at.as_millis())).await?;
        let Some(Number(seq)) = next else {
            return Ok(None);
        };
        let query = query(
            "INSERT INTO chat_messages (session_id, turn_no, seq, id, turn_id, role, from_webhook,
                 content, tool_calls, tool_call_id, tool_name, input_tokens, output_tokens, model,
                 audio, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
        );
        self.run(
            query
                .bind(row.session_id.as_str())
                .bind(row.turn_no)
                .bind(seq)
                .bind(row.id.as_str())
                .bind(row.turn_id.as_str())
                .bind(&row.role)
                .bind(i64::from(row.from_webhook))
                .bind(&row.content)
                .bind(row.tool_calls.as_deref())
                .bind(row.tool_call_id.as_deref())
                .bind(row.tool_name.as_deref())
                .bind(row.input_tokens)
                .bind(row.output_tokens)
                .bind(row.model.as_deref())
                .bind(row.audio.as_deref())
                .bind(row.created_at.as_millis()),
        )
        .await?;
        Ok(Some(seq))
    }

    /// Writes which audio a message has; `false` when the message is gone.
    pub async fn update_chat_message_audio(
        &mut self,
        session: &SessionId,
        id: &MessageId,
        audio: &str,
    ) -> Result<bool, StoreError> {
        let query = query("UPDATE chat_messages SET audio = $3 WHERE session_id = $1 AND id = $2");
        let query = query.bind(session.as_str()).bind(id.as_str()).bind(audio);
        let is_there = self.run(query).await? > 0;
        if is_there {
            self.update_session_audio_message(audio, id).await?;
        }
        Ok(is_there)
    }

    /// The message with this id in a session.
    pub async fn find_chat_message(
        &mut self,
        session: &SessionId,
        id: &str,
    ) -> Result<Option<ChatMessageRow>, StoreError> {
        let query = query("SELECT * FROM chat_messages WHERE session_id = $1 AND id = $2");
        self.find(query.bind(session.as_str()).bind(id)).await
    }

    /// The newest messages before a place (turn and number), the oldest of them first.
    pub async fn list_chat_messages(
        &mut self,
        session: &SessionId,
        before: (i64, i64),
        limit: i64,
        max_bytes: usize,
    ) -> Result<Vec<ChatMessageRow>, StoreError> {
        let query = query(
            "SELECT * FROM chat_messages
             WHERE session_id = $1 AND (turn_no < $2 OR (turn_no = $2 AND seq < $3))
             ORDER BY turn_no DESC, seq DESC LIMIT $4",
        );
        let query = query.bind(session.as_str()).bind(before.0).bind(before.1);
        let query = query.bind(limit);
        let newest = self.list_within(query, max_bytes, ChatMessageRow::text_bytes);
        let mut newest = newest.await?;
        newest.reverse();
        Ok(newest)
    }

    /// The newest messages of the turns after one and up to another, the oldest of them first.
    pub async fn list_chat_context(
        &mut self,
        session: &SessionId,
        (after_turn, through_turn): (i64, i64),
        limit: i64,
    ) -> Result<Vec<ChatMessageRow>, StoreError> {
        let query = query(
            "SELECT * FROM chat_messages
             WHERE session_id = $1 AND turn_no > $2 AND turn_no <= $3
             ORDER BY turn_no DESC, seq DESC LIMIT $4",
        );
        let query = query.bind(session.as_str()).bind(after_turn);
        let query = query.bind(through_turn).bind(limit);
        let mut newest: Vec<ChatMessageRow> = self.list(query).await?;
        newest.reverse();
        Ok(newest)
    }

    /// What people and agents said up to a message, the newest of it, the oldest of that first.
    pub async fn list_chat_spoken(
        &mut self,
        session: &SessionId,
        through_seq: i64,
        limit: i64,
        max_bytes: usize,
    ) -> Result<Vec<ChatMessageRow>, StoreError> {
        let query = query(
            "SELECT * FROM chat_messages
             WHERE session_id = $1 AND seq <= $2 AND role IN ('user', 'assistant')
             ORDER BY turn_no DESC, seq DESC LIMIT $3",
        );
        let query = query.bind(session.as_str()).bind(through_seq).bind(limit);
        let newest = self.list_within(query, max_bytes, ChatMessageRow::text_bytes);
        let mut newest = newest.await?;
        newest.reverse();
        Ok(newest)
    }
}
