//! Table `provider_keys`: keys of model and voice providers.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// A row of `provider_keys`.
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderKeyRow {
    /// The provider's ID.
    pub id: String,
    /// The key and its service as JSON, in plaintext or as ciphertext; see `encrypted`.
    pub key: String,
    /// Whether `key` is ciphertext.
    pub encrypted: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

columns! { ProviderKeyRow: id, key, encrypted, created_at, updated_at }

impl Conn {
    /// Returns all keys, ordered by provider.
    pub async fn list_provider_keys(&mut self) -> Result<Vec<ProviderKeyRow>, StoreError> {
        self.list(query("SELECT * FROM provider_keys ORDER BY id"))
            .await
    }

    pub async fn find_provider_key(
        &mut self,
        id: &str,
    ) -> Result<Option<ProviderKeyRow>, StoreError> {
        self.find(query("SELECT * FROM provider_keys WHERE id = $1").bind(id))
            .await
    }

    /// Inserts or replaces a key. An existing `created_at` is kept.
    pub async fn update_provider_key(&mut self, row: &ProviderKeyRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO provider_keys (id, key, encrypted, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (id) DO UPDATE SET key = excluded.key, encrypted = excluded.encrypted,
                 updated_at = excluded.updated_at",
        );
        self.run(
            query
                .bind(&row.id)
                .bind(&row.key)
                .bind(i64::from(row.encrypted))
                .bind(row.created_at.as_millis())
                .bind(row.updated_at.as_millis()),
        )
        .await?;
        Ok(())
    }

    /// Deletes a provider's key; `false` if there was none.
    pub async fn delete_provider_key(&mut self, id: &str) -> Result<bool, StoreError> {
        let query = query("DELETE FROM provider_keys WHERE id = $1").bind(id);
        Ok(self.run(query).await? > 0)
    }
}
