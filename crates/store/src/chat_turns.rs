//! Table `chat_turns`: turns that wait or run. If the process of a row has ended, the turn was interrupted.

mod branches;

use crate::sql::{Value, columns, query};
use crate::{ChatMessageRow, Conn, StoreError};
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{DeliveryId, SessionId, TurnId};

/// Maximum number of rows in one list.
const LISTED: i64 = 200;

/// A row of `chat_turns`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatTurnRow {
    pub id: TurnId,
    pub session_id: SessionId,
    pub turn_no: i64,
    /// The process that runs the turn.
    pub node: String,
    /// The process is alive at least until this time, by the clock of the database. Another process ends the turn
    /// only if the value does not change for a while.
    pub alive_until: Timestamp,
    /// The answer so far.
    pub text: String,
    /// The model that writes the answer.
    pub model: Option<String>,
}

columns! { ChatTurnRow: id, session_id, turn_no, node, alive_until, text, model }

impl Conn {
    pub async fn insert_chat_turn(&mut self, row: &ChatTurnRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO chat_turns (id, session_id, turn_no, node, alive_until, text, model)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        );
        let query = query.bind(row.id.as_str()).bind(row.session_id.as_str());
        let query = query.bind(row.turn_no).bind(&row.node);
        let query = query.bind(row.alive_until.as_millis()).bind(&row.text);
        self.run(query.bind(row.model.as_deref())).await?;
        Ok(())
    }

    /// Stores the partial answer of a turn. The column is emptied when the answer is stored as a message.
    pub async fn update_chat_turn_text(
        &mut self,
        (id, node): (&TurnId, &str),
        text: &str,
        model: Option<&str>,
    ) -> Result<(), StoreError> {
        let query =
            query("UPDATE chat_turns SET text = $3, model = $4 WHERE id = $1 AND node = $2");
        let query = query.bind(id.as_str()).bind(node);
        self.run(query.bind(text).bind(model)).await.map(drop)
    }

    /// Deletes a turn and returns it; `None` if it had ended.
    pub async fn delete_chat_turn(
        &mut self,
        id: &TurnId,
    ) -> Result<Option<ChatTurnRow>, StoreError> {
        let query = query("DELETE FROM chat_turns WHERE id = $1 RETURNING *");
        self.find(query.bind(id.as_str())).await
    }

    /// Extends the lifetime of turns of a process, if the turns still belong to the process.
    pub async fn renew_chat_turns(
        &mut self,
        ids: &[TurnId],
        node: &str,
        until: Timestamp,
    ) -> Result<(), StoreError> {
        let row = |id| {
            vec![
                Value::from(until.as_millis()),
                TurnId::as_str(id).into(),
                node.into(),
            ]
        };
        let rows: Vec<_> = ids.iter().map(row).collect();
        let renew = "UPDATE chat_turns SET alive_until = $1 WHERE id = $2 AND node = $3";
        self.run_each(renew, &rows).await.map(drop)
    }

    /// Returns up to 200 turns of processes other than `node`. The turns that were not renewed for the longest time
    /// come first.
    pub async fn list_chat_turns_of_others(
        &mut self,
        node: &str,
    ) -> Result<Vec<ChatTurnRow>, StoreError> {
        let query = query(
            "SELECT * FROM chat_turns WHERE node <> $1
             ORDER BY alive_until, session_id, turn_no LIMIT $2",
        );
        self.list(query.bind(node).bind(LISTED)).await
    }

    /// Deletes a turn and returns it. Returns `None` if the turn had ended, or if a process has renewed it or taken
    /// it over since it was read.
    pub async fn delete_unrenewed_chat_turn(
        &mut self,
        turn: &ChatTurnRow,
    ) -> Result<Option<ChatTurnRow>, StoreError> {
        let query = query(
            "DELETE FROM chat_turns WHERE id = $1 AND node = $2 AND alive_until = $3 RETURNING *",
        );
        let query = query.bind(turn.id.as_str()).bind(&turn.node);
        self.find(query.bind(turn.alive_until.as_millis())).await
    }

    /// Returns the turn that runs in a session: the first whose process is alive.
    pub async fn find_running_chat_turn(
        &mut self,
        session: &SessionId,
        now: Timestamp,
    ) -> Result<Option<ChatTurnRow>, StoreError> {
        let query = query(
            "SELECT * FROM chat_turns WHERE session_id = $1 AND alive_until >= $2
             ORDER BY turn_no LIMIT 1",
        );
        self.find(query.bind(session.as_str()).bind(now.as_millis()))
            .await
    }

    /// Returns the turns of a session before this number that belong to processes other than `node`.
    pub async fn list_chat_turns_before(
        &mut self,
        (session, turn_no): (&SessionId, i64),
        node: &str,
    ) -> Result<Vec<ChatTurnRow>, StoreError> {
        let query = query(
            "SELECT * FROM chat_turns WHERE session_id = $1 AND turn_no < $2 AND node <> $3
             ORDER BY turn_no",
        );
        let query = query.bind(session.as_str()).bind(turn_no);
        self.list(query.bind(node)).await
    }

    /// Returns whether a turn still belongs to a process. If not, another process has ended the turn or taken it
    /// over.
    pub async fn has_chat_turn_of(&mut self, id: &TurnId, node: &str) -> Result<bool, StoreError> {
        let query =
            query("SELECT CAST(COUNT(*) AS BIGINT) FROM chat_turns WHERE id = $1 AND node = $2");
        Ok(self.number(query.bind(id.as_str()).bind(node)).await? > 0)
    }

    /// Returns up to 200 sessions in which processes other than `node` run turns.
    pub async fn list_sessions_of_other_nodes(
        &mut self,
        node: &str,
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let query = query(
            "SELECT DISTINCT session_id FROM chat_turns WHERE node <> $1 AND alive_until >= $2
             ORDER BY session_id LIMIT $3",
        );
        let query = query.bind(node).bind(now.as_millis());
        self.list(query.bind(LISTED)).await
    }

    /// Finds the text of the message that a delivery added in a turn.
    pub async fn find_chat_message_of_delivery(
        &mut self,
        session: &SessionId,
        turn_no: i64,
        delivery: &DeliveryId,
    ) -> Result<Option<ChatMessageRow>, StoreError> {
        let query = query(
            "SELECT * FROM chat_messages
             WHERE session_id = $1 AND turn_no = $2 AND delivery_id = $3 AND role = 'user'",
        );
        let query = query.bind(session.as_str()).bind(turn_no);
        self.find(query.bind(delivery.as_str())).await
    }

    /// Returns the messages with files from tools in the turn that a delivery began, and the last messages of that
    /// turn. Considers only turns from a given number on.
    pub async fn list_chat_files_of_tools(
        &mut self,
        session: &SessionId,
        first_turn: i64,
        delivery: &DeliveryId,
    ) -> Result<Vec<ChatMessageRow>, StoreError> {
        let query = query(
            "SELECT * FROM chat_messages
             WHERE session_id = $1 AND turn_no >= $2
                 AND ((role = 'tool' AND attachments IS NOT NULL) OR stop IS NOT NULL)
                 AND turn_no IN (
                     SELECT turn_no FROM chat_messages
                     WHERE session_id = $1 AND turn_no >= $2 AND delivery_id = $3 AND role = 'user')
             ORDER BY turn_no, seq",
        );
        let query = query.bind(session.as_str()).bind(first_turn);
        self.list(query.bind(delivery.as_str())).await
    }
}
