//! How one secret is written and read, whatever its table: encrypted while the vault is unsealed,
//! otherwise as it is. Must not know the tables.

use crate::SecretsError;
use crate::lifecycle::TRIES;
use crate::state::{BoxFuture, Inner};
use gatehouse_store::Conn;
use gatehouse_vault::{Aad, Dek, Status};
use secrecy::{ExposeSecret, SecretString};
use std::sync::Arc;
use zeroize::Zeroizing;

/// Told with a secret that had to be stored as it is.
const WARNING: &str =
    "Stored as plaintext because the vault is sealed; it is encrypted when the vault is unlocked.";

/// A secret in the form in which it is stored.
pub(crate) struct Stored {
    pub(crate) value: Zeroizing<String>,
    pub(crate) encrypted: bool,
    pub(crate) warning: Option<&'static str>,
}

impl Inner {
    /// Writes a secret with `job`, in one transaction that holds only while the vault is what it was
    /// when the secret was encrypted: nothing encrypted with an old key, and no plaintext beside an
    /// open vault, can land after the vault has changed.
    pub(crate) async fn write_secret<T, F>(
        self: &Arc<Self>,
        aad: &Aad,
        secret: &SecretString,
        job: F,
    ) -> Result<T, SecretsError>
    where
        T: Send + 'static,
        F: for<'c> Fn(&'c mut Conn, Arc<Stored>) -> BoxFuture<'c, Result<T, SecretsError>>
            + Send
            + Sync
            + 'static,
    {
        let job = Arc::new(job);
        let mut tries = TRIES;
        loop {
            tries -= 1;
            match self.try_to_write(aad, secret, &job).await {
                // Another process changed the vault: look, and write as things are now.
                Err(SecretsError::Changed) if tries > 0 => self.view().await.map(drop)?,
                outcome => return outcome,
            }
        }
    }

    async fn try_to_write<T, F>(
        self: &Arc<Self>,
        aad: &Aad,
        secret: &SecretString,
        job: &Arc<F>,
    ) -> Result<T, SecretsError>
    where
        T: Send + 'static,
        F: for<'c> Fn(&'c mut Conn, Arc<Stored>) -> BoxFuture<'c, Result<T, SecretsError>>
            + Send
            + Sync
            + 'static,
    {
        let _shared = self.gate.read().await;
        let (known, status, dek) = self.known();
        let stored = Arc::new(self.form(aad, secret, status, dek.as_deref())?);
        let (inner, job) = (Arc::clone(self), Arc::clone(job));
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                inner.require_unchanged(conn, &known).await?;
                job(conn, stored).await
            })
        });
        write.await
    }

    fn form(
        &self,
        aad: &Aad,
        secret: &SecretString,
        status: Status,
        dek: Option<&Dek>,
    ) -> Result<Stored, SecretsError> {
        let sealed = status == Status::Sealed;
        if sealed && !self.settings.load().plaintext_while_sealed {
            return Err(SecretsError::Sealed);
        }
        let text = secret.expose_secret();
        Ok(match dek {
            Some(dek) => Stored {
                value: Zeroizing::new(dek.encrypt(&*self.random, aad, text.as_bytes())?),
                encrypted: true,
                warning: None,
            },
            None => Stored {
                value: Zeroizing::new(text.to_owned()),
                encrypted: false,
                warning: sealed.then_some(WARNING),
            },
        })
    }

    /// Opens a stored secret. The caller holds the gate, so that the key in memory is the row's.
    pub(crate) fn open_stored(
        &self,
        aad: &Aad,
        value: String,
        encrypted: bool,
    ) -> Result<SecretString, SecretsError> {
        if !encrypted {
            return Ok(SecretString::from(value));
        }
        let dek = self.dek().ok_or(SecretsError::Sealed)?;
        let damaged = || SecretsError::Damaged(aad.to_string());
        let plain = dek.decrypt(aad, &value).map_err(|_| damaged())?;
        let text = str::from_utf8(&plain).map_err(|_| damaged())?;
        Ok(SecretString::from(text))
    }
}
