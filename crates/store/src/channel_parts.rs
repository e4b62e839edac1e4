//! Table `channel_parts`: the progress of messages that are sent in several parts.

use crate::sql::query;
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

impl Conn {
    /// Returns the number of parts sent for this message.
    pub async fn find_channel_parts(&mut self, message: &str) -> Result<i64, StoreError> {
        let query =
            query("SELECT COALESCE(MAX(parts_sent), 0) FROM channel_parts WHERE message = $1");
        self.number(query.bind(message)).await
    }

    /// Records the number of parts sent and deletes messages last attempted before `before`.
    pub async fn update_channel_parts(
        &mut self,
        message: &str,
        parts_sent: i64,
        now: Timestamp,
        before: Timestamp,
    ) -> Result<(), StoreError> {
        let insert = query(
            "INSERT INTO channel_parts (message, parts_sent, updated_at) VALUES ($1, $2, $3)
             ON CONFLICT (message) DO UPDATE SET parts_sent = excluded.parts_sent,
                 updated_at = excluded.updated_at",
        );
        self.run(insert.bind(message).bind(parts_sent).bind(now.as_millis()))
            .await?;
        let old = query("DELETE FROM channel_parts WHERE updated_at < $1");
        self.run(old.bind(before.as_millis())).await.map(drop)
    }

    /// Deletes the progress of a message that was sent completely or will never be sent.
    pub async fn delete_channel_parts(&mut self, message: &str) -> Result<(), StoreError> {
        let query = query("DELETE FROM channel_parts WHERE message = $1").bind(message);
        self.run(query).await.map(drop)
    }
}
