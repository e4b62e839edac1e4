//! Table `ssh_keys`.

use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// One managed SSH key. The private key is OpenSSH PEM text or ciphertext, as `encrypted` says.
#[derive(Clone, PartialEq, Eq)]
pub struct SshKeyRow {
    /// Its name.
    pub name: String,
    /// The public key in OpenSSH's one-line form.
    pub public_key: String,
    /// The public key's SHA-256 fingerprint.
    pub fingerprint: String,
    /// The private key, or the ciphertext of it.
    pub private_key: String,
    /// Which of the two.
    pub encrypted: bool,
    /// When it was stored.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl FromRow for SshKeyRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            name: row.try_get("name")?,
            public_key: row.try_get("public_key")?,
            fingerprint: row.try_get("fingerprint")?,
            private_key: row.try_get("private_key")?,
            encrypted: row.try_get::<i64, _>("encrypted")? != 0,
            created_at: Timestamp::from_millis(row.try_get("created_at")?),
            updated_at: Timestamp::from_millis(row.try_get("updated_at")?),
        })
    }
}

impl Conn {
    /// Every key, by name.
    pub async fn list_ssh_keys(&mut self) -> Result<Vec<SshKeyRow>, StoreError> {
        self.list(query("SELECT * FROM ssh_keys ORDER BY name"))
            .await
    }

    /// One of them.
    pub async fn find_ssh_key(&mut self, name: &str) -> Result<Option<SshKeyRow>, StoreError> {
        self.find(query("SELECT * FROM ssh_keys WHERE name = $1").bind(name))
            .await
    }

    /// Stores a new key; `Duplicate` when the name is taken.
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

    /// Removes one; `false` when there was none.
    pub async fn delete_ssh_key(&mut self, name: &str) -> Result<bool, StoreError> {
        let query = query("DELETE FROM ssh_keys WHERE name = $1").bind(name);
        Ok(self.run(query).await? > 0)
    }
}
