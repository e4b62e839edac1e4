//! A uniform view of all tables with secrets: an ID, a value, and whether the value is encrypted. Encrypting,
//! rotating and decrypting secrets iterate over [`SecretTable::ALL`], so a new kind of secret needs only an entry
//! here.

use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// A table whose rows each contain one secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SecretTable {
    /// The ID is the key, the secret is the value.
    EnvVariables,
    /// The ID is the name, the secret is the private key.
    SshKeys,
    /// The ID is `type:account:field`.
    ChannelSecrets,
    /// The ID is `webhook:field`.
    WebhookSecrets,
    /// The ID is the provider, the secret is the key.
    ProviderKeys,
    /// The ID is the server, the secret contains its tokens.
    McpAuthorizations,
}

/// One secret.
#[derive(Clone, PartialEq, Eq)]
pub struct ProtectedRow {
    /// Unique within the table.
    pub id: String,
    /// Plaintext or ciphertext; see `encrypted`.
    pub value: String,
    /// Whether `value` is ciphertext.
    pub encrypted: bool,
}

impl FromRow for ProtectedRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.try_get(0)?,
            value: row.try_get(1)?,
            encrypted: row.try_get::<i64, _>(2)? != 0,
        })
    }
}

impl SecretTable {
    pub const ALL: [Self; 6] = [
        Self::EnvVariables,
        Self::SshKeys,
        Self::ChannelSecrets,
        Self::WebhookSecrets,
        Self::ProviderKeys,
        Self::McpAuthorizations,
    ];

    const fn select(self) -> &'static str {
        match self {
            Self::EnvVariables => "SELECT key, value, encrypted FROM env_variables ORDER BY key",
            Self::SshKeys => "SELECT name, private_key, encrypted FROM ssh_keys ORDER BY name",
            Self::ChannelSecrets => {
                "SELECT type || ':' || account_id || ':' || field, value, encrypted
                 FROM channel_secrets ORDER BY account_id, field"
            }
            Self::WebhookSecrets => {
                "SELECT webhook_id || ':' || field, value, encrypted
                 FROM webhook_secrets ORDER BY webhook_id, field"
            }
            Self::ProviderKeys => "SELECT id, key, encrypted FROM provider_keys ORDER BY id",
            Self::McpAuthorizations => {
                "SELECT server, value, encrypted FROM mcp_authorizations ORDER BY server"
            }
        }
    }

    const fn count_encrypted(self) -> &'static str {
        match self {
            Self::EnvVariables => "SELECT COUNT(*) FROM env_variables WHERE encrypted = 1",
            Self::SshKeys => "SELECT COUNT(*) FROM ssh_keys WHERE encrypted = 1",
            Self::ChannelSecrets => "SELECT COUNT(*) FROM channel_secrets WHERE encrypted = 1",
            Self::WebhookSecrets => "SELECT COUNT(*) FROM webhook_secrets WHERE encrypted = 1",
            Self::ProviderKeys => "SELECT COUNT(*) FROM provider_keys WHERE encrypted = 1",
            Self::McpAuthorizations => {
                "SELECT COUNT(*) FROM mcp_authorizations WHERE encrypted = 1"
            }
        }
    }

    const fn update(self) -> &'static str {
        match self {
            Self::EnvVariables => {
                "UPDATE env_variables SET value = $1, encrypted = $2, updated_at = $3
                 WHERE key = $4 AND value = $5"
            }
            Self::SshKeys => {
                "UPDATE ssh_keys SET private_key = $1, encrypted = $2, updated_at = $3
                 WHERE name = $4 AND private_key = $5"
            }
            Self::ChannelSecrets => {
                "UPDATE channel_secrets SET value = $1, encrypted = $2, updated_at = $3
                 WHERE type || ':' || account_id || ':' || field = $4 AND value = $5"
            }
            Self::WebhookSecrets => {
                "UPDATE webhook_secrets SET value = $1, encrypted = $2, updated_at = $3
                 WHERE webhook_id || ':' || field = $4 AND value = $5"
            }
            Self::ProviderKeys => {
                "UPDATE provider_keys SET key = $1, encrypted = $2, updated_at = $3
                 WHERE id = $4 AND key = $5"
            }
            Self::McpAuthorizations => {
                "UPDATE mcp_authorizations SET value = $1, encrypted = $2, updated_at = $3
                 WHERE server = $4 AND value = $5"
            }
        }
    }
}

impl Conn {
    pub async fn list_protected(
        &mut self,
        table: SecretTable,
    ) -> Result<Vec<ProtectedRow>, StoreError> {
        self.list(query(table.select())).await
    }

    /// Returns the number of encrypted secrets in all tables.
    pub async fn count_encrypted(&mut self) -> Result<i64, StoreError> {
        let mut sum = 0;
        for table in SecretTable::ALL {
            sum += self.number(query(table.count_encrypted())).await?;
        }
        Ok(sum)
    }

    /// Replaces a secret's stored form if it still equals the form that was read. Otherwise returns `false` and
    /// keeps the newer value.
    pub async fn update_protected(
        &mut self,
        table: SecretTable,
        read: &ProtectedRow,
        value: &str,
        encrypted: bool,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let query = query(table.update())
            .bind(value)
            .bind(i64::from(encrypted))
            .bind(now.as_millis())
            .bind(&read.id)
            .bind(&read.value);
        Ok(self.run(query).await? > 0)
    }
}
