//! Secrets in rows of other crates: channel accounts, webhooks and MCP servers. This crate encrypts and decrypts
//! the secrets without using the meaning of the rows.

use crate::write_secret::{FormedSecret, WhileSealed};
use crate::{Secrets, SecretsError};
use futures_util::future::BoxFuture;
use gatehouse_store::Conn;
use gatehouse_vault::Aad;
use secrecy::SecretString;
use std::sync::Arc;

/// The owner of a secret. It is authenticated with the ciphertext.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretOwner {
    /// A field of a channel account. None of the three parts may contain a colon.
    Channel {
        /// The channel's type.
        kind: String,
        account_id: String,
        field: String,
    },
    /// A webhook's secret. All webhooks share this context, so the plaintext contains the webhook's ID.
    Webhook {
        /// `secret` or `previous_secret`.
        field: String,
    },
    /// The client and the tokens of an MCP server.
    McpAuthorization { server: String },
}

impl SecretOwner {
    fn aad(&self) -> Aad {
        match self {
            Self::Channel {
                kind,
                account_id,
                field,
            } => Aad::channel(kind, account_id, field),
            Self::Webhook { field } => Aad::webhook_config(field),
            Self::McpAuthorization { server } => Aad::mcp_authorization(server),
        }
    }
}

impl Secrets {
    /// Encrypts secrets and passes them to `job`, in the same order, in one write transaction. The transaction
    /// commits only if the vault is unchanged. Without a vault, the secrets stay in plaintext and are encrypted
    /// later. While the vault is sealed, they are refused.
    pub async fn write_protected<T, E, F>(
        &self,
        secrets: Vec<(SecretOwner, SecretString)>,
        job: F,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SecretsError> + Send + 'static,
        F: for<'c> Fn(&'c mut Conn, Arc<Vec<Arc<FormedSecret>>>) -> BoxFuture<'c, Result<T, E>>
            + Send
            + Sync
            + 'static,
    {
        let secrets: Vec<_> = secrets
            .into_iter()
            .map(|(place, secret)| (place.aad(), secret))
            .collect();
        self.0
            .write_secrets(&secrets, WhileSealed::Refuse, job)
            .await
    }

    /// Decrypts a secret that was read from its row.
    pub async fn open_protected(
        &self,
        place: &SecretOwner,
        value: String,
        encrypted: bool,
    ) -> Result<SecretString, SecretsError> {
        let _shared = self.0.gate.read().await;
        self.0.open_stored(&place.aad(), value, encrypted)
    }
}
