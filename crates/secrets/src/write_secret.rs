//! Reads and writes secrets of all tables. Secrets are encrypted while the vault is unsealed, otherwise in
//! plaintext. This module does not depend on the tables.

use crate::SecretsError;
use crate::lifecycle::TRIES;
use crate::state::{BoxFuture, Inner};
use gatehouse_store::{Conn, StoreError};
use gatehouse_vault::{Aad, Dek, Status};
use secrecy::{ExposeSecret, SecretString};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The warning that is returned for a secret stored in plaintext.
const WARNING: &str =
    "Stored as plaintext because the vault is sealed; it is encrypted when the vault is unlocked.";

/// A secret in the form in which it is stored.
pub struct FormedSecret {
    /// Ciphertext, or the secret itself.
    pub value: Zeroizing<String>,
    /// Whether `value` is ciphertext.
    pub encrypted: bool,
    pub(crate) warning: Option<&'static str>,
}

/// The treatment of a secret that is written while the vault is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhileSealed {
    /// Store it in plaintext or refuse it, depending on `vault.plaintext_while_sealed`.
    AsSet,
    Refuse,
}

/// Why an attempt did not write.
enum Miss<E> {
    /// The vault changed after the secrets were encrypted.
    Changed,
    Failed(E),
}

impl<E: From<SecretsError>> From<StoreError> for Miss<E> {
    fn from(error: StoreError) -> Self {
        Self::Failed(SecretsError::from(error).into())
    }
}

impl<E: From<SecretsError>> From<SecretsError> for Miss<E> {
    fn from(error: SecretsError) -> Self {
        match error {
            SecretsError::Changed => Self::Changed,
            error => Self::Failed(error.into()),
        }
    }
}

impl Inner {
    /// Writes one secret with `job`; see [`Inner::write_secrets`].
    pub(crate) async fn write_secret<T, F>(
        self: &Arc<Self>,
        aad: &Aad,
        secret: &SecretString,
        job: F,
    ) -> Result<T, SecretsError>
    where
        T: Send + 'static,
        F: for<'c> Fn(&'c mut Conn, Arc<FormedSecret>) -> BoxFuture<'c, Result<T, SecretsError>>
            + Send
            + Sync
            + 'static,
    {
        let secrets = [(aad.clone(), secret.clone())];
        self.write_secrets(
            &secrets,
            WhileSealed::AsSet,
            move |conn, formed| match formed.first() {
                Some(formed) => job(conn, Arc::clone(formed)),
                None => Box::pin(std::future::ready(Err(SecretsError::Sealed))),
            },
        )
        .await
    }

    /// Writes secrets with `job` in one transaction that commits only if the vault has not changed since they were
    /// encrypted. This prevents storing a value that is encrypted with an old key, or plaintext while the vault is
    /// unsealed. Runs `job` again if the vault changed.
    pub(crate) async fn write_secrets<T, E, F>(
        self: &Arc<Self>,
        secrets: &[(Aad, SecretString)],
        while_sealed: WhileSealed,
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
        let job = Arc::new(job);
        let mut tries = TRIES;
        loop {
            tries -= 1;
            match self.try_to_write(secrets, while_sealed, &job).await {
                Ok(done) => return Ok(done),
                Err(Miss::Failed(error)) => return Err(error),
                Err(Miss::Changed) if tries == 0 => return Err(SecretsError::Changed.into()),
                // Another process changed the vault: update the state and retry.
                Err(Miss::Changed) => {
                    self.view().await.map_err(SecretsError::from)?;
                }
            }
        }
    }

    async fn try_to_write<T, E, F>(
        self: &Arc<Self>,
        secrets: &[(Aad, SecretString)],
        while_sealed: WhileSealed,
        job: &Arc<F>,
    ) -> Result<T, Miss<E>>
    where
        T: Send + 'static,
        E: From<SecretsError> + Send + 'static,
        F: for<'c> Fn(&'c mut Conn, Arc<Vec<Arc<FormedSecret>>>) -> BoxFuture<'c, Result<T, E>>
            + Send
            + Sync
            + 'static,
    {
        let _shared = self.gate.read().await;
        let (known, status, dek) = self.known();
        if status == Status::Sealed && !secrets.is_empty() {
            let refused = match while_sealed {
                WhileSealed::Refuse => true,
                WhileSealed::AsSet => !self.settings.load().plaintext_while_sealed,
            };
            if refused {
                return Err(SecretsError::Sealed.into());
            }
        }
        let formed = secrets
            .iter()
            .map(|(aad, secret)| self.form(aad, secret, status, dek.as_deref()).map(Arc::new))
            .collect::<Result<Vec<_>, SecretsError>>()?;
        let formed = Arc::new(formed);
        let (inner, job) = (Arc::clone(self), Arc::clone(job));
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                let unchanged = inner.require_unchanged(conn, &known).await;
                unchanged.map_err(SecretsError::from)?;
                job(conn, formed).await.map_err(Miss::Failed)
            })
        });
        write.await
    }

    pub(crate) fn form(
        &self,
        aad: &Aad,
        secret: &SecretString,
        status: Status,
        dek: Option<&Dek>,
    ) -> Result<FormedSecret, SecretsError> {
        let text = secret.expose_secret();
        Ok(match dek {
            Some(dek) => FormedSecret {
                value: Zeroizing::new(dek.encrypt(&*self.random, aad, text.as_bytes())?),
                encrypted: true,
                warning: None,
            },
            None => FormedSecret {
                value: Zeroizing::new(text.to_owned()),
                encrypted: false,
                warning: (status == Status::Sealed).then_some(WARNING),
            },
        })
    }

    /// Decrypts a stored secret. The caller must hold the gate, so that the key in memory matches
    /// the row.
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
