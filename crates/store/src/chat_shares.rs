//! Table `chat_shares`: sessions that anyone with the link may read, up to the time of sharing.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::SessionId;

/// A row of `chat_shares`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatShareRow {
    /// The ID in the link. Readers need no other credential.
    pub id: String,
    pub session_id: SessionId,
    /// The session's label at the time of sharing.
    pub title: String,
    /// Number of the last message that readers see.
    pub through_seq: i64,
    /// When the session was first shared.
    pub created_at: Timestamp,
    /// When the session was last shared. Readers see the session as it was at this time.
    pub updated_at: Timestamp,
}

columns! { ChatShareRow: id, session_id, title, through_seq, created_at, updated_at }

impl Conn {
    pub async fn find_chat_share(&mut self, id: &str) -> Result<Option<ChatShareRow>, StoreError> {
        self.find(query("SELECT * FROM chat_shares WHERE id = $1").bind(id))
            .await
    }

    /// Shares a session. If the session is already shared, it keeps its ID and the time of its first sharing.
    /// Returns both.
    pub async fn update_chat_share(
        &mut self,
        row: &ChatShareRow,
    ) -> Result<ChatShareRow, StoreError> {
        let query = query(
            "INSERT INTO chat_shares (id, session_id, title, through_seq, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (session_id) DO UPDATE SET title = excluded.title,
                 through_seq = excluded.through_seq, updated_at = excluded.updated_at
             RETURNING *",
        );
        let query = query
            .bind(&row.id)
            .bind(row.session_id.as_str())
            .bind(&row.title)
            .bind(row.through_seq)
            .bind(row.created_at.as_millis())
            .bind(row.updated_at.as_millis());
        self.find(query).await?.ok_or(StoreError::Damaged {
            what: "shared session",
        })
    }

    /// Stops sharing a session; `false` if it was not shared.
    pub async fn delete_chat_share(&mut self, session: &SessionId) -> Result<bool, StoreError> {
        let query = query("DELETE FROM chat_shares WHERE session_id = $1");
        Ok(self.run(query.bind(session.as_str())).await? > 0)
    }
}
