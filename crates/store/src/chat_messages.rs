//! Table `chat_messages`: the messages of a session, from users, agents and tools.

mod row;

use crate::chat_sessions::Number;
use crate::sql::query;
use crate::{Conn, StoreError};
use gatehouse_domain::id::{DeliveryId, MessageId, SessionId, TurnId};
pub use row::ChatMessageRow;

impl Conn {
    /// Stores a message at the end of its turn. The same statement taints the session for an untrusted message and
    /// for files, and marks the session as private for a private message. Returns the message's number, or `None`
    /// if the session no longer exists.
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

    /// Stores the part of an interrupted message that was played. A complete answer is then marked as aborted.
    /// Returns whether the message exists.
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

    /// Returns the texts that the agent wrote in a turn, in order.
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

    /// Returns the newest messages of users and agents up to and including a given message, in ascending order.
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
