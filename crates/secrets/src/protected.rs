//! Secrets whose rows belong to other rooms: those of channel accounts and of webhooks. This room
//! encrypts and decrypts them; what the rows mean is their owners' matter.

use crate::write_secret::{FormedSecret, WhileSealed};
use crate::{Secrets, SecretsError};
use futures_util::future::BoxFuture;
use gatehouse_store::Conn;
use gatehouse_vault::Aad;
use secrecy::SecretString;
use std::sync::Arc;

/// What a secret belongs to; it is authenticated with the ciphertext.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretPlace {
    /// A field of a channel account. None of the three has a colon.
    Channel {
        /// The channel's type.
        kind: String,
        /// The account.
        account_id: String,
        /// The field.
        field: String,
    },
    /// A webhook's secret. The place is the same for all webhooks: the secret names its webhook.
    Webhook {
        /// `secret` or `previous_secret`.
        field: String,
    },
}

impl SecretPlace {
    fn aad(&self) -> Aad {
        match self {
            Self::Channel {
                kind,
                account_id,
                field,
            } => Aad::channel(kind, account_id, field),
            Self::Webhook { field } => Aad::webhook_config(field),
        }
    }
}

impl Secrets {
    /// Encrypts each secret and runs `job` with them, in their order, in one write transaction that
    /// holds only while the vault is what it was meanwhile. Without an open vault they stay as they
    /// are and are encrypted later; while it is sealed they are refused.
    pub async fn write_protected<T, E, F>(
        &self,
        secrets: Vec<(SecretPlace, SecretString)>,
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

    /// Opens one that was read from its row.
    pub async fn open_protected(
        &self,
        place: &SecretPlace,
        value: String,
        encrypted: bool,
    ) -> Result<SecretString, SecretsError> {
        let _shared = self.0.gate.read().await;
        self.0.open_stored(&place.aad(), value, encrypted)
    }
}
