//! Table `vault_shares`: requests for the vault's data key, and the answers through which nodes on one database
//! share it.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// The maximum number of rows that are read at once. Each sealed node has one.
const MAX_ROWS: i64 = 100;

/// A row of `vault_shares`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultShareRow {
    pub id: String,
    /// The data key that is requested or shared.
    pub dek_id: String,
    /// The vault's generation when the row was written.
    pub generation: i64,
    /// The requesting node's public key, encrypted. `None` for the key of a rotation.
    pub request: Option<String>,
    /// The data key, encrypted. `None` while the request waits.
    pub answer: Option<String>,
    pub created_at: Timestamp,
}

columns! { VaultShareRow: id, dek_id, generation, request, answer, created_at }

impl Conn {
    /// Inserts or replaces a row.
    pub async fn update_vault_share(&mut self, row: &VaultShareRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO vault_shares (id, dek_id, generation, request, answer, created_at)
             VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (id) DO UPDATE SET dek_id = excluded.dek_id,
                 generation = excluded.generation, request = excluded.request,
                 answer = excluded.answer, created_at = excluded.created_at",
        );
        self.run(
            query
                .bind(&row.id)
                .bind(&row.dek_id)
                .bind(row.generation)
                .bind(&row.request)
                .bind(&row.answer)
                .bind(row.created_at.as_millis()),
        )
        .await
        .map(drop)
    }

    /// Stores the answer to a request that no node has answered yet.
    pub async fn update_vault_share_answer(
        &mut self,
        id: &str,
        answer: &str,
    ) -> Result<(), StoreError> {
        let query = query("UPDATE vault_shares SET answer = $1 WHERE id = $2 AND answer IS NULL");
        self.run(query.bind(answer).bind(id)).await.map(drop)
    }

    /// Returns the newest rows, at most 100.
    pub async fn list_vault_shares(&mut self) -> Result<Vec<VaultShareRow>, StoreError> {
        let query = query("SELECT * FROM vault_shares ORDER BY created_at DESC, id LIMIT $1");
        self.list(query.bind(MAX_ROWS)).await
    }

    pub async fn find_vault_share(
        &mut self,
        id: &str,
    ) -> Result<Option<VaultShareRow>, StoreError> {
        self.find(query("SELECT * FROM vault_shares WHERE id = $1").bind(id))
            .await
    }

    pub async fn delete_vault_share(&mut self, id: &str) -> Result<(), StoreError> {
        let query = query("DELETE FROM vault_shares WHERE id = $1");
        self.run(query.bind(id)).await.map(drop)
    }

    /// Deletes rows that were created before `after` or later than `until`.
    pub async fn delete_old_vault_shares(
        &mut self,
        after: Timestamp,
        until: Timestamp,
    ) -> Result<(), StoreError> {
        let query = query("DELETE FROM vault_shares WHERE created_at < $1 OR created_at > $2");
        self.run(query.bind(after.as_millis()).bind(until.as_millis()))
            .await
            .map(drop)
    }
}
