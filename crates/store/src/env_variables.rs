//! Table `env_variables`.

use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// One environment variable. The value is plaintext or ciphertext, as `encrypted` says.
#[derive(Clone, PartialEq, Eq)]
pub struct EnvVariableRow {
    /// Its name.
    pub key: String,
    /// Its value, or the ciphertext of it.
    pub value: String,
    /// Which of the two.
    pub encrypted: bool,
    /// The service that it was entered for; `None` when it has been used for none.
    pub belongs_to: Option<String>,
    /// When it was first set.
    pub created_at: Timestamp,
    /// When it was last set.
    pub updated_at: Timestamp,
}

impl FromRow for EnvVariableRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            key: row.try_get("key")?,
            value: row.try_get("value")?,
            encrypted: row.try_get::<i64, _>("encrypted")? != 0,
            belongs_to: row.try_get("belongs_to")?,
            created_at: Timestamp::from_millis(row.try_get("created_at")?),
            updated_at: Timestamp::from_millis(row.try_get("updated_at")?),
        })
    }
}

impl Conn {
    /// Every variable, by name.
    pub async fn list_env_variables(&mut self) -> Result<Vec<EnvVariableRow>, StoreError> {
        self.list(query("SELECT * FROM env_variables ORDER BY key"))
            .await
    }

    /// One of them.
    pub async fn find_env_variable(
        &mut self,
        key: &str,
    ) -> Result<Option<EnvVariableRow>, StoreError> {
        self.find(query("SELECT * FROM env_variables WHERE key = $1").bind(key))
            .await
    }

    /// Sets one; what is stored then (its first `created_at` stays).
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

    /// Binds a variable that is bound to no service yet; `false` when it is bound, or gone.
    pub async fn update_env_variable_binding(
        &mut self,
        key: &str,
        belongs_to: &str,
    ) -> Result<bool, StoreError> {
        let query =
            query("UPDATE env_variables SET belongs_to = $1 WHERE key = $2 AND belongs_to IS NULL");
        Ok(self.run(query.bind(belongs_to).bind(key)).await? > 0)
    }

    /// Removes one; `false` when there was none.
    pub async fn delete_env_variable(&mut self, key: &str) -> Result<bool, StoreError> {
        let query = query("DELETE FROM env_variables WHERE key = $1").bind(key);
        Ok(self.run(query).await? > 0)
    }
}
