//! Table `inbound_messages`: messages of paired people whose answer has not been sent.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// A row of `inbound_messages`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboundMessageRow {
    pub account_id: String,
    /// The vendor's number of the message, ascending per account.
    pub update_id: i64,
    /// The vendor's ID of the person.
    pub person: String,
    /// The vendor's ID of the conversation that gets the answer.
    pub chat: String,
    /// The topic within the conversation.
    pub thread: Option<String>,
    /// Whether others read the conversation.
    pub is_group: bool,
    /// Whether the person wrote the text. A forwarded text was written by someone else.
    pub is_own: bool,
    pub text: String,
    /// The vendor's ID of a file that came with the text.
    pub file_id: Option<String>,
    pub file_name: Option<String>,
    /// What is to be sent; `None` until the agent has answered.
    pub answer: Option<String>,
    pub received_at: Timestamp,
}

columns! {
    InboundMessageRow:
    account_id, update_id, person, chat, thread, is_group, is_own, text, file_id, file_name, answer, received_at
}

impl Conn {
    /// Returns the messages of an account, oldest first.
    pub async fn list_inbound_messages(
        &mut self,
        account_id: &str,
    ) -> Result<Vec<InboundMessageRow>, StoreError> {
        let query =
            query("SELECT * FROM inbound_messages WHERE account_id = $1 ORDER BY update_id");
        self.list(query.bind(account_id)).await
    }

    /// Counts the messages of a person that wait for an answer.
    pub async fn count_inbound_messages(
        &mut self,
        account_id: &str,
        person: &str,
    ) -> Result<i64, StoreError> {
        let query = query(
            "SELECT CAST(COUNT(*) AS BIGINT) FROM inbound_messages
             WHERE account_id = $1 AND person = $2",
        );
        self.number(query.bind(account_id).bind(person)).await
    }

    /// Stores a message unless it is stored already.
    pub async fn insert_inbound_message(
        &mut self,
        row: &InboundMessageRow,
    ) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO inbound_messages (account_id, update_id, person, chat, thread, is_group,
                 is_own, text, answer, received_at, file_id, file_name)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING",
        );
        let query = query
            .bind(&row.account_id)
            .bind(row.update_id)
            .bind(&row.person)
            .bind(&row.chat)
            .bind(&row.thread)
            .bind(i64::from(row.is_group))
            .bind(i64::from(row.is_own))
            .bind(&row.text)
            .bind(&row.answer)
            .bind(row.received_at.as_millis())
            .bind(row.file_id.as_deref())
            .bind(row.file_name.as_deref());
        self.run(query).await.map(drop)
    }

    /// Stores what is to be sent as the answer.
    pub async fn update_inbound_answer(
        &mut self,
        account_id: &str,
        update_id: i64,
        answer: &str,
    ) -> Result<(), StoreError> {
        let query = query(
            "UPDATE inbound_messages SET answer = $3 WHERE account_id = $1 AND update_id = $2",
        );
        let query = query.bind(account_id).bind(update_id).bind(answer);
        self.run(query).await.map(drop)
    }

    /// Deletes a message whose answer is sent or not wanted.
    pub async fn delete_inbound_message(
        &mut self,
        account_id: &str,
        update_id: i64,
    ) -> Result<(), StoreError> {
        let query = query("DELETE FROM inbound_messages WHERE account_id = $1 AND update_id = $2");
        self.run(query.bind(account_id).bind(update_id))
            .await
            .map(drop)
    }
}
