//! Tables `channel_accounts` and `channel_secrets`: the accounts that messages are sent with, and their
//! secrets.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// A row of `channel_accounts`, which contains no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelAccountRow {
    pub id: String,
    /// The channel type, such as `telegram`.
    pub kind: String,
    /// Display name.
    pub label: String,
    /// The fields that are not secrets, as the text of a JSON object.
    pub fields: String,
    /// Whether messages can be sent with the account.
    pub enabled: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// When a test message was last accepted.
    pub tested_at: Option<Timestamp>,
}

columns! { ChannelAccountRow: id, kind("type"), label, fields, enabled, created_at, updated_at, tested_at }

/// A row of `channel_secrets`: one secret field of an account.
#[derive(Clone, PartialEq, Eq)]
pub struct ChannelSecretRow {
    pub account_id: String,
    /// The account's channel type.
    pub kind: String,
    pub field: String,
    /// Plaintext or ciphertext; see `encrypted`.
    pub value: String,
    /// Whether `value` is ciphertext.
    pub encrypted: bool,
    /// The service that the secret was entered for; `None` if the account's URL has not changed since then.
    pub belongs_to: Option<String>,
    pub updated_at: Timestamp,
}

columns! {
    ChannelSecretRow:
    account_id, kind("type"), field, value, encrypted, belongs_to, updated_at
}

impl Conn {
    /// Returns all accounts, oldest first.
    pub async fn list_channel_accounts(&mut self) -> Result<Vec<ChannelAccountRow>, StoreError> {
        self.list(query(
            "SELECT * FROM channel_accounts ORDER BY created_at, id",
        ))
        .await
    }

    pub async fn find_channel_account(
        &mut self,
        id: &str,
    ) -> Result<Option<ChannelAccountRow>, StoreError> {
        self.find(query("SELECT * FROM channel_accounts WHERE id = $1").bind(id))
            .await
    }

    /// Stores a new account. Fails with `Duplicate` if the ID is taken.
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

    /// Updates label, fields and the enabled flag; `false` if the account does not exist.
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

    /// Stores when a test message was accepted.
    pub async fn update_channel_tested(
        &mut self,
        id: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let query = query("UPDATE channel_accounts SET tested_at = $2 WHERE id = $1");
        let query = query.bind(id).bind(now.as_millis());
        self.run(query).await.map(drop)
    }

    /// Deletes an account and its secrets; `false` if it did not exist.
    pub async fn delete_channel_account(&mut self, id: &str) -> Result<bool, StoreError> {
        self.run(query("DELETE FROM channel_secrets WHERE account_id = $1").bind(id))
            .await?;
        let query = query("DELETE FROM channel_accounts WHERE id = $1").bind(id);
        Ok(self.run(query).await? > 0)
    }

    pub async fn list_channel_secrets(&mut self) -> Result<Vec<ChannelSecretRow>, StoreError> {
        self.list(query(
            "SELECT * FROM channel_secrets ORDER BY account_id, field",
        ))
        .await
    }

    pub async fn list_channel_secrets_of(
        &mut self,
        account_id: &str,
    ) -> Result<Vec<ChannelSecretRow>, StoreError> {
        let query = query("SELECT * FROM channel_secrets WHERE account_id = $1 ORDER BY field");
        self.list(query.bind(account_id)).await
    }

    /// Inserts or replaces a secret.
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

    /// Binds a secret to a service unless it is already bound.
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

    /// Deletes a secret if it exists.
    pub async fn delete_channel_secret(
        &mut self,
        account_id: &str,
        field: &str,
    ) -> Result<(), StoreError> {
        let query = query("DELETE FROM channel_secrets WHERE account_id = $1 AND field = $2");
        self.run(query.bind(account_id).bind(field)).await.map(drop)
    }
}
