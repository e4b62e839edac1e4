//! Table `received_messages`: messages of paired people. A message is stored until its answer is sent. Its ID is
//! kept for some time after that.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// A row of `received_messages`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedMessageRow {
    pub account_id: String,
    /// The vendor's ID of the message, unique per account.
    pub message_id: String,
    /// The vendor's ID of the person.
    pub person: String,
    /// The vendor's ID of the conversation that gets the answer.
    pub chat: String,
    /// The topic or thread within the conversation.
    pub thread: Option<String>,
    /// Whether the conversation has other participants.
    pub is_group: bool,
    /// Whether the person wrote the text. A forwarded text was written by someone else.
    pub is_own: bool,
    pub text: String,
    /// The vendor's ID of the first file that came with the text.
    pub file_id: Option<String>,
    pub file_name: Option<String>,
    /// Whether the first file is a recording of the person's voice.
    pub is_voice: bool,
    /// The other files, as JSON.
    pub more_files: Option<String>,
    /// The earlier message that the text quotes, as JSON.
    pub quote: Option<String>,
    /// The text to send; `None` until the agent has answered.
    pub answer: Option<String>,
    pub received_at: Timestamp,
}

columns! {
    ReceivedMessageRow:
    account_id, message_id, person, chat, thread, is_group, is_own, text, file_id, file_name, is_voice, more_files,
    quote, answer, received_at
}

impl Conn {
    /// Returns the messages of an account that wait for an answer, oldest first.
    pub async fn list_received_messages(
        &mut self,
        account_id: &str,
    ) -> Result<Vec<ReceivedMessageRow>, StoreError> {
        let query = query(
            "SELECT * FROM received_messages WHERE account_id = $1 AND ended_at IS NULL ORDER BY number",
        );
        self.list(query.bind(account_id)).await
    }

    /// Returns the conversation of a person's newest stored message in a direct conversation. The message may
    /// already be answered.
    pub async fn find_direct_chat_of(
        &mut self,
        account_id: &str,
        person: &str,
    ) -> Result<Option<String>, StoreError> {
        let query = query(
            "SELECT * FROM received_messages WHERE account_id = $1 AND person = $2 AND is_group = 0
             ORDER BY number DESC LIMIT 1",
        );
        let query = query.bind(account_id).bind(person);
        let found: Option<ReceivedMessageRow> = self.find(query).await?;
        Ok(found.map(|row| row.chat))
    }

    /// Counts the messages of a person that wait for an answer.
    pub async fn count_received_messages(
        &mut self,
        account_id: &str,
        person: &str,
    ) -> Result<i64, StoreError> {
        let query = query(
            "SELECT CAST(COUNT(*) AS BIGINT) FROM received_messages
             WHERE account_id = $1 AND person = $2 AND ended_at IS NULL",
        );
        self.number(query.bind(account_id).bind(person)).await
    }

    /// Counts the messages of a person that were stored after `since`, including answered ones.
    pub async fn count_messages_since(
        &mut self,
        account_id: &str,
        person: &str,
        since: Timestamp,
    ) -> Result<i64, StoreError> {
        let query = query(
            "SELECT CAST(COUNT(*) AS BIGINT) FROM received_messages
             WHERE account_id = $1 AND person = $2 AND received_at > $3",
        );
        let query = query.bind(account_id).bind(person);
        self.number(query.bind(since.as_millis())).await
    }

    /// Stores a message at the end of the queue. Returns `false` if the message is already stored.
    pub async fn insert_received_message(
        &mut self,
        row: &ReceivedMessageRow,
    ) -> Result<bool, StoreError> {
        let query = query(
            "INSERT INTO received_messages (account_id, message_id, number, person, chat, thread,
                 is_group, is_own, text, answer, received_at, file_id, file_name, is_voice, more_files, quote)
             VALUES ($1, $2, (SELECT COALESCE(MAX(number), 0) + 1 FROM received_messages
                 WHERE account_id = $1), $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
                 $15)
             ON CONFLICT DO NOTHING",
        );
        let query = query
            .bind(&row.account_id)
            .bind(&row.message_id)
            .bind(&row.person)
            .bind(&row.chat)
            .bind(&row.thread)
            .bind(i64::from(row.is_group))
            .bind(i64::from(row.is_own))
            .bind(&row.text)
            .bind(&row.answer)
            .bind(row.received_at.as_millis())
            .bind(row.file_id.as_deref())
            .bind(row.file_name.as_deref())
            .bind(i64::from(row.is_voice))
            .bind(row.more_files.as_deref())
            .bind(row.quote.as_deref());
        Ok(self.run(query).await? > 0)
    }

    /// Stores the text to send as the answer.
    pub async fn update_received_answer(
        &mut self,
        account_id: &str,
        message_id: &str,
        answer: &str,
    ) -> Result<(), StoreError> {
        let query = query(
            "UPDATE received_messages SET answer = $3
             WHERE account_id = $1 AND message_id = $2 AND ended_at IS NULL",
        );
        let query = query.bind(account_id).bind(message_id).bind(answer);
        self.run(query).await.map(drop)
    }

    /// Removes the texts of a message whose answer was sent or is not needed. Keeps the ID of the message.
    pub async fn end_received_message(
        &mut self,
        account_id: &str,
        message_id: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let query = query(
            "UPDATE received_messages SET text = '', answer = NULL, file_id = NULL, file_name = NULL,
                 more_files = NULL, quote = NULL, ended_at = $3 WHERE account_id = $1 AND message_id = $2",
        );
        let query = query.bind(account_id).bind(message_id);
        self.run(query.bind(now.as_millis())).await.map(drop)
    }

    /// Deletes the IDs of messages that ended before `before`.
    pub async fn delete_ended_messages(&mut self, before: Timestamp) -> Result<(), StoreError> {
        let query = query("DELETE FROM received_messages WHERE ended_at < $1");
        self.run(query.bind(before.as_millis())).await.map(drop)
    }

    /// Takes over the messages that a node of an older version stored for an account.
    pub async fn adopt_inbound_messages(&mut self, account_id: &str) -> Result<(), StoreError> {
        let copy = query(
            "INSERT INTO received_messages (account_id, message_id, number, person, chat, thread,
                 is_group, is_own, text, file_id, file_name, answer, received_at)
             SELECT account_id, CAST(update_id AS TEXT), update_id, person, chat, thread, is_group,
                 is_own, text, file_id, file_name, answer, received_at
             FROM inbound_messages WHERE account_id = $1 ON CONFLICT DO NOTHING",
        );
        self.run(copy.bind(account_id)).await?;
        let delete = query("DELETE FROM inbound_messages WHERE account_id = $1");
        self.run(delete.bind(account_id)).await.map(drop)
    }
}
