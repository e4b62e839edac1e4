//! Branches of a conversation: copies of its beginning, and the deletion of its end.

use crate::chat_sessions::Number;
use crate::sql::query;
use crate::{Conn, StoreError};
use gatehouse_domain::id::SessionId;

impl Conn {
    /// Finds the number of a turn that has messages.
    pub async fn find_chat_turn_number(
        &mut self,
        session: &SessionId,
        id: &str,
    ) -> Result<Option<i64>, StoreError> {
        let query = query(
            "SELECT turn_no FROM chat_messages WHERE session_id = $1 AND turn_id = $2 LIMIT 1",
        );
        let found: Option<Number> = self.find(query.bind(session.as_str()).bind(id)).await?;
        Ok(found.map(|Number(number)| number))
    }

    /// Returns whether a turn with this number or a higher one waits or runs.
    pub async fn has_open_chat_turn(
        &mut self,
        session: &SessionId,
        first: i64,
    ) -> Result<bool, StoreError> {
        let query = query(
            "SELECT CAST(COUNT(*) AS BIGINT) FROM chat_turns WHERE session_id = $1 AND turn_no >= $2",
        );
        Ok(self
            .number(query.bind(session.as_str()).bind(first))
            .await?
            > 0)
    }

    /// Returns whether a turn with this number or a lower one waits or runs.
    pub async fn has_open_chat_turn_up_to(
        &mut self,
        session: &SessionId,
        last: i64,
    ) -> Result<bool, StoreError> {
        let query = query(
            "SELECT CAST(COUNT(*) AS BIGINT) FROM chat_turns WHERE session_id = $1 AND turn_no <= $2",
        );
        Ok(self.number(query.bind(session.as_str()).bind(last)).await? > 0)
    }

    /// Copies the messages up to and including a turn into a new, empty session. Copies the summary if it covers no
    /// later message. The copies have no recordings, and refer to the files of the original session.
    pub async fn insert_chat_branch(
        &mut self,
        from: &SessionId,
        to: &SessionId,
        last: i64,
    ) -> Result<(), StoreError> {
        let messages = query(
            "INSERT INTO chat_messages (session_id, turn_no, seq, id, turn_id, role, origin, private, content,
                 tool_calls, tool_call_id, tool_name, input_tokens, output_tokens, model, stop, error,
                 delivery_id, created_at, reasoning, reasoning_state, cached_tokens, reasoning_tokens, attachments,
                 heard, tool_status)
             SELECT $2, turn_no, seq, id || '.' || $2, turn_id, role, origin, private, content, tool_calls,
                 tool_call_id, tool_name, input_tokens, output_tokens, model, stop, error, delivery_id,
                 created_at, reasoning, reasoning_state, cached_tokens, reasoning_tokens, attachments,
                 heard, tool_status
             FROM chat_messages WHERE session_id = $1 AND turn_no <= $3",
        );
        let messages = messages.bind(from.as_str()).bind(to.as_str()).bind(last);
        let copied = i64::try_from(self.run(messages).await?).unwrap_or(i64::MAX);
        let session = query(
            "UPDATE chat_sessions SET message_count = $3, last_turn = $4,
                 last_seq = (SELECT COALESCE(MAX(seq), 0) FROM chat_messages WHERE session_id = $2),
                 private = (SELECT private FROM chat_sessions WHERE id = $1),
                 summary = (SELECT summary FROM chat_sessions WHERE id = $1 AND summary_turn <= $4),
                 summary_turn = COALESCE(
                     (SELECT summary_turn FROM chat_sessions WHERE id = $1 AND summary_turn <= $4), 0),
                 summary_origin = (SELECT summary_origin FROM chat_sessions WHERE id = $1)
             WHERE id = $2",
        );
        let session = session.bind(from.as_str()).bind(to.as_str());
        self.run(session.bind(copied).bind(last)).await.map(drop)
    }

    /// Deletes the messages of a range of turns, both bounds inclusive. Deletes the summary if it covers one of
    /// them. Recordings are kept until the session is deleted.
    pub async fn delete_chat_messages(
        &mut self,
        session: &SessionId,
        (first, last): (i64, i64),
    ) -> Result<(), StoreError> {
        let files = query(
            "DELETE FROM session_attachments WHERE session_id = $1 AND message_id IN (
                 SELECT id FROM chat_messages
                 WHERE session_id = $1 AND turn_no >= $2 AND turn_no <= $3)",
        );
        let files = files.bind(session.as_str()).bind(first).bind(last);
        self.run(files).await?;
        let messages = query(
            "DELETE FROM chat_messages WHERE session_id = $1 AND turn_no >= $2 AND turn_no <= $3",
        );
        let messages = messages.bind(session.as_str()).bind(first).bind(last);
        let deleted = i64::try_from(self.run(messages).await?).unwrap_or(i64::MAX);
        let session_row = query(
            "UPDATE chat_sessions SET message_count = message_count - $2,
                 summary = CASE WHEN summary_turn >= $3 THEN NULL ELSE summary END,
                 summary_turn = CASE WHEN summary_turn >= $3 THEN 0 ELSE summary_turn END
             WHERE id = $1",
        );
        let session_row = session_row.bind(session.as_str()).bind(deleted);
        self.run(session_row.bind(first)).await.map(drop)
    }
}
