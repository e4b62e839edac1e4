//! Tables `channel_accounts` and `channel_secrets`: where messages can be sent, and with what.

use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// One account, without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelAccountRow {
    /// Its id.
    pub id: String,
    /// Its type, such as `telegram`.
    pub kind: String,
    /// What people call it.
    pub label: String,
    /// The fields that are no secrets, as the text of a JSON object.
    pub fields: String,
    /// Whether messages may be sent with it.
    pub enabled: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl FromRow for ChannelAccountRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.try_get("id")?,
            kind: row.try_get("type")?,
            label: row.try_get("label")?,
            fields: row.try_get("fields")?,
            enabled: row.try_get::<i64, _>("enabled")? != 0,
            created_at: Timestamp::from_millis(row.try_get("created_at")?),
            updated_at: Timestamp::from_millis(row.try_get("updated_at")?),
        })
    }
}

/// One secret field of an account. The value is plaintext or ciphertext, as `encrypted` says.
#[derive(Clone, PartialEq, Eq)]
pub struct ChannelSecretRow {
    /// The account.
    pub account_id: String,
    /// The account's type.
    pub kind: String,
    /// The field.
    pub field: String,
    /// Its value, or the ciphertext of it.
    pub value: String,
    /// Which of the two.
    pub encrypted: bool,
    /// The service that it was entered for; `None` while the account's address has not changed since.
    pub belongs_to: Option<String>,
    /// When it was stored.
    pub updated_at: Timestamp,
}

impl FromRow for ChannelSecretRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            account_id: row.try_get("account_id")?,
            kind: row.try_get("type")?,
            field: row.try_get("field")?,
            value: row.try_get("value")?,
            encrypted: row.try_get::<i64, _>("encrypted")? != 0,
            belongs_to: row.try_get("belongs_to")?,
            updated_at: Timestamp::from_millis(row.try_get("updated_at")?),
        })
    }
}

impl Conn {
    /// Every account, the oldest first.
    pub async fn list_channel_accounts(&mut self) -> Result<Vec<ChannelAccountRow>, StoreError> {
        self.list(query(
            "SELECT * FROM channel_accounts ORDER BY created_at, id",
        ))
        .await
    }

    /// One of them.
    pub async fn find_channel_account(
        &mut self,
        id: &str,
    ) -> Result<Option<ChannelAccountRow>, StoreError> {
        self.find(query("SELECT * FROM channel_accounts WHERE id = $1").bind(id))
            .await
    }

    /// Stores a new account; `Duplicate` when the id is taken.
    pub async fn insert_channel_account(
        &mut self,
        row: &ChannelAccountRow,
    ) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO channel_accounts (id, type, label, fields, enabled, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        );
        self.run(
            query
                .bind(&row.id)
                .bind(&row.kind)
                .bind(&row.label)
                .bind(&row.fields)
                .bind(i64::from(row.enabled))
                .bind(row.created_at.as_millis())
                .bind(row.updated_at.as_millis()),
        )
        .await
        .map(drop)
    }

    /// Changes label, fields and whether it is enabled; `false` when there is no such account.
    pub async fn update_channel_account(
        &mut self,
        row: &ChannelAccountRow,
    ) -> Result<bool, StoreError> {
        let query = query(
            "UPDATE channel_accounts SET label = $1, fields = $2, enabled = $3, updated_at = $4
             WHERE id = $5",
        );
        let query = query
            .bind(&row.label)
            .bind(&row.fields)
            .bind(i64::from(row.enabled))
            .bind(row.updated_at.as_millis())
            .bind(&row.id);
        Ok(self.run(query).await? > 0)
    }

    /// Removes an account and its secrets; `false` when there was none.
    pub async fn delete_channel_account(&mut self, id: &str) -> Result<bool, StoreError> {
        self.run(query("DELETE FROM channel_secrets WHERE account_id = $1").bind(id))
            .await?;
        let query = query("DELETE FROM channel_accounts WHERE id = $1").bind(id);
        Ok(self.run(query).await? > 0)
    }

    /// Every secret of every account.
    pub async fn list_channel_secrets(&mut self) -> Result<Vec<ChannelSecretRow>, StoreError> {
        self.list(query(
            "SELECT * FROM channel_secrets ORDER BY account_id, field",
        ))
        .await
    }

    /// The secrets of one account.
    pub async fn list_channel_secrets_of(
        &mut self,
        account_id: &str,
    ) -> Result<Vec<ChannelSecretRow>, StoreError> {
        let query = query("SELECT * FROM channel_secrets WHERE account_id = $1 ORDER BY field");
        self.list(query.bind(account_id)).await
    }

    /// Sets one secret.
    pub async fn update_channel_secret(
        &mut self,
        row: &ChannelSecretRow,
    ) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO channel_secrets
                 (account_id, type, field, value, encrypted, updated_at, belongs_to)
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (account_id, field) DO UPDATE SET value = excluded.value,
                 encrypted = excluded.encrypted, updated_at = excluded.updated_at,
                 belongs_to = excluded.belongs_to",
        );
        self.run(
            query
                .bind(&row.account_id)
                .bind(&row.kind)
                .bind(&row.field)
                .bind(&row.value)
                .bind(i64::from(row.encrypted))
                .bind(row.updated_at.as_millis())
                .bind(&row.belongs_to),
        )
        .await
        .map(drop)
    }

    /// Binds a secret that is bound to no service yet; one that is stays as it is.
    pub async fn update_channel_secret_binding(
        &mut self,
        account_id: &str,
        field: &str,
        belongs_to: &str,
    ) -> Result<(), StoreError> {
        let query = query(
            "UPDATE channel_secrets SET belongs_to = $1
             WHERE account_id = $2 AND field = $3 AND belongs_to IS NULL",
        );
        let query = query.bind(belongs_to).bind(account_id).bind(field);
        self.run(query).await.map(drop)
    }

    /// Removes one secret, when it is there.
    pub async fn delete_channel_secret(
        &mut self,
        account_id: &str,
        field: &str,
    ) -> Result<(), StoreError> {
        let query = query("DELETE FROM channel_secrets WHERE account_id = $1 AND field = $2");
        self.run(query.bind(account_id).bind(field)).await.map(drop)
    }
}
