//! Table `env_variables`: environment variables that users store in the gateway.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// A row of `env_variables`.
#[derive(Clone, PartialEq, Eq)]
pub struct EnvVariableRow {
    pub key: String,
    /// Plaintext or ciphertext; see `encrypted`.
    pub value: String,
    /// Whether `value` is ciphertext.
    pub encrypted: bool,
    /// The service that the value was entered for; `None` if no service has used it.
    pub belongs_to: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

columns! { EnvVariableRow: key, value, encrypted, belongs_to, created_at, updated_at }

impl Conn {
    /// Returns all variables, ordered by name.
    pub async fn list_env_variables(&mut self) -> Result<Vec<EnvVariableRow>, StoreError> {
        let mut all: Vec<EnvVariableRow> = self.list(query("SELECT * FROM env_variables")).await?;
        // Sorted here because the collations of the engines differ.
        all.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(all)
    }

    pub async fn find_env_variable(
        &mut self,
        key: &str,
    ) -> Result<Option<EnvVariableRow>, StoreError> {
        self.find(query("SELECT * FROM env_variables WHERE key = $1").bind(key))
            .await
    }

    /// Inserts or replaces a variable and returns the stored row. An existing `created_at` is kept.
    pub async fn update_env_variable(
        &mut self,
        row: &EnvVariableRow,
    ) -> Result<EnvVariableRow, StoreError> {
        let query = query(
            "INSERT INTO env_variables (key, value, encrypted, created_at, updated_at, belongs_to)
             VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (key) DO UPDATE SET value = excluded.value,
                 encrypted = excluded.encrypted, updated_at = excluded.updated_at,
                 belongs_to = excluded.belongs_to",
        );
        self.run(
            query
                .bind(&row.key)
                .bind(&row.value)
                .bind(i64::from(row.encrypted))
                .bind(row.created_at.as_millis())
                .bind(row.updated_at.as_millis())
                .bind(&row.belongs_to),
        )
        .await?;
        self.find_env_variable(&row.key)
            .await?
            .ok_or(StoreError::Damaged {
                what: "environment variable",
            })
    }

    /// Binds an unbound variable to a service; `false` if it is already bound or no longer exists.
    pub async fn update_env_variable_binding(
        &mut self,
        key: &str,
        belongs_to: &str,
    ) -> Result<bool, StoreError> {
        let query =
            query("UPDATE env_variables SET belongs_to = $1 WHERE key = $2 AND belongs_to IS NULL");
        Ok(self.run(query.bind(belongs_to).bind(key)).await? > 0)
    }

    /// Deletes a variable; `false` if it did not exist.
    pub async fn delete_env_variable(&mut self, key: &str) -> Result<bool, StoreError> {
        let query = query("DELETE FROM env_variables WHERE key = $1").bind(key);
        Ok(self.run(query).await? > 0)
    }
}
