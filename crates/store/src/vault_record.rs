//! Table `vault`: the vault record of the database.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};

/// The row of `vault`. The vault crate defines the meaning of its texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultRow {
    /// Version of the record's format.
    pub version: i64,
    /// Base64 of the salt.
    pub kdf_salt: String,
    /// JSON of the cost parameters.
    pub kdf_params: String,
    /// The data key, wrapped with the key derived from the password.
    pub wrapped_dek: String,
    /// The data key, wrapped with the key derived from the recovery key.
    pub recovery_wrapped_dek: Option<String>,
    pub recovery_key_hash: Option<String>,
    /// ID of the data key.
    pub dek_id: String,
    /// A commitment that identifies the data key after unwrapping.
    pub dek_commitment: String,
    /// Base64 of the public key for held deliveries.
    pub hold_public_key: Option<String>,
    /// The matching private key, encrypted with the data key.
    pub hold_private_key: Option<String>,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
}

columns! {
    VaultRow:
    version, kdf_salt, kdf_params, wrapped_dek, recovery_wrapped_dek, recovery_key_hash,
    dek_id, dek_commitment, hold_public_key, hold_private_key, created_at, updated_at
}

impl Conn {
    pub async fn find_vault(&mut self) -> Result<Option<VaultRow>, StoreError> {
        self.find(query("SELECT * FROM vault WHERE id = 1")).await
    }

    /// Stores the first record; `false` if one already exists.
    pub async fn insert_vault(&mut self, row: &VaultRow) -> Result<bool, StoreError> {
        let query = query(
            "INSERT INTO vault (id, version, kdf_salt, kdf_params, wrapped_dek,
                 recovery_wrapped_dek, recovery_key_hash, dek_id, dek_commitment, hold_public_key,
                 hold_private_key, created_at, updated_at)
             VALUES (1, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (id) DO NOTHING",
        );
        let query = query
            .bind(row.version)
            .bind(&row.kdf_salt)
            .bind(&row.kdf_params)
            .bind(&row.wrapped_dek)
            .bind(row.recovery_wrapped_dek.as_deref())
            .bind(row.recovery_key_hash.as_deref())
            .bind(&row.dek_id)
            .bind(&row.dek_commitment)
            .bind(row.hold_public_key.as_deref())
            .bind(row.hold_private_key.as_deref())
            .bind(row.created_at)
            .bind(row.updated_at);
        Ok(self.run(query).await? > 0)
    }

    /// Replaces the record if it still equals the record that was read; otherwise returns `false`.
    pub async fn update_vault(
        &mut self,
        opened: &VaultRow,
        row: &VaultRow,
    ) -> Result<bool, StoreError> {
        let query = query(
            "UPDATE vault SET version = $1, kdf_salt = $2, kdf_params = $3, wrapped_dek = $4,
                 recovery_wrapped_dek = $5, recovery_key_hash = $6, dek_id = $7,
                 dek_commitment = $8, hold_public_key = $9, hold_private_key = $10,
                 updated_at = $11
             WHERE id = 1 AND dek_id = $12 AND wrapped_dek = $13",
        );
        let query = query
            .bind(row.version)
            .bind(&row.kdf_salt)
            .bind(&row.kdf_params)
            .bind(&row.wrapped_dek)
            .bind(row.recovery_wrapped_dek.as_deref())
            .bind(row.recovery_key_hash.as_deref())
            .bind(&row.dek_id)
            .bind(&row.dek_commitment)
            .bind(row.hold_public_key.as_deref())
            .bind(row.hold_private_key.as_deref())
            .bind(row.updated_at)
            .bind(&opened.dek_id)
            .bind(&opened.wrapped_dek);
        Ok(self.run(query).await? > 0)
    }
}
