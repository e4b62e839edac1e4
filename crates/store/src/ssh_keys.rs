//! Table `ssh_keys`: SSH keys that the gateway manages.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// A row of `ssh_keys`.
#[derive(Clone, PartialEq, Eq)]
pub struct SshKeyRow {
    pub name: String,
    /// The public key in OpenSSH's one-line format.
    pub public_key: String,
    /// SHA-256 fingerprint of the public key.
    pub fingerprint: String,
    /// OpenSSH PEM text or ciphertext; see `encrypted`.
    pub private_key: String,
    /// Whether `private_key` is ciphertext.
    pub encrypted: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

columns! {
    SshKeyRow:
    name, public_key, fingerprint, private_key, encrypted, created_at, updated_at
}

impl Conn {
    /// Returns all keys, ordered by name.
    pub async fn list_ssh_keys(&mut self) -> Result<Vec<SshKeyRow>, StoreError> {
        let mut all: Vec<SshKeyRow> = self.list(query("SELECT * FROM ssh_keys")).await?;
        // Sorted here because the collations of the engines differ.
        all.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(all)
    }

    pub async fn find_ssh_key(&mut self, name: &str) -> Result<Option<SshKeyRow>, StoreError> {
        self.find(query("SELECT * FROM ssh_keys WHERE name = $1").bind(name))
            .await
    }

    /// Stores a new key. Fails with `Duplicate` if the name is taken.
    pub async fn insert_ssh_key(&mut self, row: &SshKeyRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO ssh_keys (name, public_key, fingerprint, private_key, encrypted,
                 created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        );
        self.run(
            query
                .bind(&row.name)
                .bind(&row.public_key)
                .bind(&row.fingerprint)
                .bind(&row.private_key)
                .bind(i64::from(row.encrypted))
                .bind(row.created_at.as_millis())
                .bind(row.updated_at.as_millis()),
        )
        .await
        .map(drop)
    }

    /// Deletes a key; `false` if it did not exist.
    pub async fn delete_ssh_key(&mut self, name: &str) -> Result<bool, StoreError> {
        let query = query("DELETE FROM ssh_keys WHERE name = $1").bind(name);
        Ok(self.run(query).await? > 0)
    }
}
