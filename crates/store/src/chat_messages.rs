//! Table `chat_messages`: the messages of a session, from users, agents and tools.

use crate::chat_sessions::Number;
use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{DeliveryId, MessageId, SessionId, TurnId};

/// A row of `chat_messages`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessageRow {
    pub session_id: SessionId,
    /// The turn's number in the session. Messages are ordered by turn first.
    pub turn_no: i64,
    /// The message's number in the session, in the order of storing. Messages of a turn are ordered by it.
    /// Assigned by [`Conn::insert_chat_message`].
    pub seq: i64,
    pub id: MessageId,
    pub turn_id: TurnId,
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// The author: `owner`, `configured`, `model` or `stranger`.
    pub origin: String,
    /// Whether it contains private data: the files of a user, or the result of a tool that returns private data.
    pub is_private: bool,
    pub content: String,
    /// The tool calls of an assistant message, as JSON text.
    pub tool_calls: Option<String>,
    /// The call that a tool message answers.
    pub tool_call_id: Option<String>,
    /// The tool that produced a tool message.
    pub tool_name: Option<String>,
    /// How the call that a tool message answers ended. Messages of earlier versions have none.
    pub tool_status: Option<String>,
    /// Tokens that the model read for the message.
    pub input_tokens: Option<i64>,
    /// Tokens that the model generated for the message.
    pub output_tokens: Option<i64>,
    /// Input tokens that the provider read from its cache.
    pub cached_tokens: Option<i64>,
    /// Output tokens of reasoning.
    pub reasoning_tokens: Option<i64>,
    /// The model that generated the message.
    pub model: Option<String>,
    /// ID of the message's audio.
    pub audio: Option<String>,
    /// The files of the message, as JSON text. They count as a stranger's.
    pub attachments: Option<String>,
    /// Why the answer ended; only in the last message of a turn.
    pub stop: Option<String>,
    /// Why the turn failed, as JSON text.
    pub error: Option<String>,
    /// The delivery that brought a user message, or the ID of the message of a channel.
    pub delivery_id: Option<DeliveryId>,
    /// The model's reasoning before this message.
    pub reasoning: Option<String>,
    /// Data that the model's provider needs back with the message, as JSON text.
    pub reasoning_state: Option<String>,
    /// The part of the message that was spoken before the person interrupted it.
    pub heard: Option<String>,
    pub created_at: Timestamp,
}

impl ChatMessageRow {
    /// An empty message, whose position in the session is not known yet.
    pub fn new(
        session_id: SessionId,
        turn_id: TurnId,
        id: MessageId,
        role: &str,
        origin: &str,
        created_at: Timestamp,
    ) -> Self {
        Self {
            session_id,
            turn_no: 0,
            seq: 0,
            id,
            turn_id,
            role: role.to_owned(),
            origin: origin.to_owned(),
            is_private: false,
            content: String::new(),
            tool_calls: None,
            tool_call_id: None,
            tool_name: None,
            tool_status: None,
            input_tokens: None,
            output_tokens: None,
            cached_tokens: None,
            reasoning_tokens: None,
            model: None,
            audio: None,
            attachments: None,
            stop: None,
            error: None,
            delivery_id: None,
            reasoning: None,
            reasoning_state: None,
            heard: None,
            created_at,
        }
    }

    /// Returns the total size of the texts in bytes.
    pub fn text_bytes(&self) -> usize {
        let of = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let besides = [
            &self.tool_calls,
            &self.reasoning,
            &self.reasoning_state,
            &self.attachments,
            &self.heard,
        ];
        besides
            .into_iter()
            .map(of)
            .fold(self.content.len(), usize::saturating_add)
    }
}

columns! {
    ChatMessageRow:
    session_id, turn_no, seq, id, turn_id, role, origin, is_private("private"), content,
    tool_calls, tool_call_id, tool_name, tool_status, input_tokens, output_tokens, cached_tokens,
    reasoning_tokens, model, audio, attachments, stop, error, delivery_id, reasoning, reasoning_state, heard, created_at
}

impl Conn {
    /// Stores a message at the end of its turn. A stranger's message and files taint the session, and a private
    /// message marks it as private, in the same statement. Returns the message's number, or `None` if the session no
    /// longer exists.
    pub async fn insert_chat_message(
        &mut self,
        row: &ChatMessageRow,
    ) -> Result<Option<i64>, StoreError> {
        let session = query(
            "UPDATE chat_sessions SET last_seq = last_seq + 1, message_count = message_count + 1,
                 updated_at = $2,
                 tainted = CASE WHEN $3 = 'stranger' OR $5 = 1 THEN 1 ELSE tainted END,
                 private = CASE WHEN $4 = 1 THEN 1 ELSE private END
             WHERE id = $1 RETURNING last_seq",
        );
        let session = session.bind(row.session_id.as_str());
        let session = session.bind(row.created_at.as_millis()).bind(&row.origin);
        let session = session.bind(i64::from(row.is_private));
        let session = session.bind(i64::from(row.attachments.is_some()));
        let next = self.find(session).await?;
        let Some(Number(seq)) = next else {
            return Ok(None);
        };
        let query = query(
            "INSERT INTO chat_messages (session_id, turn_no, seq, id, turn_id, role, origin,
                 private, content, tool_calls, tool_call_id, tool_name, input_tokens, output_tokens, model,
                 audio, stop, error, delivery_id, created_at, reasoning, reasoning_state, cached_tokens,
                 reasoning_tokens, attachments, tool_status)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
                 $20, $21, $22, $23, $24, $25, $26)",
        );
        self.run(
            query
                .bind(row.session_id.as_str())
                .bind(row.turn_no)
                .bind(seq)
                .bind(row.id.as_str())
                .bind(row.turn_id.as_str())
                .bind(&row.role)
                .bind(&row.origin)
                .bind(i64::from(row.is_private))
                .bind(&row.content)
                .bind(row.tool_calls.as_deref())
                .bind(row.tool_call_id.as_deref())
                .bind(row.tool_name.as_deref())
                .bind(row.input_tokens)
                .bind(row.output_tokens)
                .bind(row.model.as_deref())
                .bind(row.audio.as_deref())
                .bind(row.stop.as_deref())
                .bind(row.error.as_deref())
                .bind(row.delivery_id.as_ref().map(DeliveryId::as_str))
                .bind(row.created_at.as_millis())
                .bind(row.reasoning.as_deref())
                .bind(row.reasoning_state.as_deref())
                .bind(row.cached_tokens)
                .bind(row.reasoning_tokens)
                .bind(row.attachments.as_deref())
                .bind(row.tool_status.as_deref()),
        )
        .await?;
        Ok(Some(seq))
    }

    /// Sets a message's audio; `false` if the message no longer exists.
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

    /// Stores the part that was heard of an interrupted message. A complete answer then counts as aborted. Returns
    /// whether the message exists.
    pub async fn update_chat_message_heard(
        &mut self,
        session: &SessionId,
        id: &MessageId,
        heard: &str,
    ) -> Result<bool, StoreError> {
        let query = query(
            "UPDATE chat_messages SET heard = $3, stop = CASE WHEN stop = 'end' THEN 'aborted' ELSE stop END
             WHERE session_id = $1 AND id = $2",
        );
        let query = query.bind(session.as_str()).bind(id.as_str()).bind(heard);
        Ok(self.run(query).await? > 0)
    }

    /// Returns the texts of a turn's agent, in order.
    pub async fn list_chat_answers(
        &mut self,
        session: &SessionId,
        turn: &TurnId,
    ) -> Result<Vec<ChatMessageRow>, StoreError> {
        let query = query(
            "SELECT * FROM chat_messages
             WHERE session_id = $1 AND turn_id = $2 AND role = 'assistant' AND content <> ''
             ORDER BY turn_no, seq",
        );
        self.list(query.bind(session.as_str()).bind(turn.as_str()))
            .await
    }

    pub async fn find_chat_message(
        &mut self,
        session: &SessionId,
        id: &str,
    ) -> Result<Option<ChatMessageRow>, StoreError> {
        let query = query("SELECT * FROM chat_messages WHERE session_id = $1 AND id = $2");
        self.find(query.bind(session.as_str()).bind(id)).await
    }

    /// Returns the newest messages between two positions (turn and number), both exclusive, in ascending order.
    pub async fn list_chat_messages(
        &mut self,
        session: &SessionId,
        (after, before): ((i64, i64), (i64, i64)),
        limit: i64,
        max_bytes: usize,
    ) -> Result<Vec<ChatMessageRow>, StoreError> {
        let query = query(
            "SELECT * FROM chat_messages
             WHERE session_id = $1 AND (turn_no < $2 OR (turn_no = $2 AND seq < $3))
                AND (turn_no > $4 OR (turn_no = $4 AND seq > $5))
             ORDER BY turn_no DESC, seq DESC LIMIT $6",
        );
        let query = query.bind(session.as_str()).bind(before.0).bind(before.1);
        let query = query.bind(after.0).bind(after.1).bind(limit);
        let newest = self.list_within(query, max_bytes, ChatMessageRow::text_bytes);
        let mut newest = newest.await?;
        newest.reverse();
        Ok(newest)
    }

    /// Returns the newest messages of a range of turns (first bound exclusive, second inclusive), in
    /// ascending order.
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

    /// Returns the newest messages of users and agents up to a given message, in ascending order.
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
