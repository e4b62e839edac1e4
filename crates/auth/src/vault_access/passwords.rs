//! Checks of passwords and recovery keys before the vault is changed.

use crate::audit::kinds;
use crate::error::AuthError;
use crate::request_context::RequestContext;
use crate::state::Auth;
use gatehouse_domain::Actor;
use gatehouse_secrets::{Secrets, VaultError};
use secrecy::SecretString;

/// The proof of identity in a vault request.
pub(super) enum Sent {
    /// No password.
    Nothing,
    /// The login password, already verified.
    Login,
    /// The vault's password. It may differ from the login password.
    Vault(SecretString),
}

impl Auth {
    /// Runs a vault operation to completion. A wrong password or key counts against the credential and is recorded
    /// in the audit log. The login password counts as a confirmation.
    pub(super) async fn with_vault<T, F, W>(
        &self,
        context: &RequestContext,
        sent: Sent,
        work: W,
    ) -> Result<T, AuthError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, VaultError>> + Send + 'static,
        W: FnOnce(Secrets, Actor) -> F,
    {
        let tried = self.begin_try(context).await?;
        let work = work(self.0.secrets.clone(), context.actor());
        let work = self.durable(async move { Ok(work.await?) });
        // Both futures hash the password, which takes long, so they run concurrently.
        let (outcome, is_login) = tokio::join!(work, self.is_login_password(context, &sent));
        match outcome {
            Err(AuthError::Vault(VaultError::BadKey)) => Err(self.bad_key(context).await),
            outcome => {
                if let Some(tried) = tried {
                    tried.give_back();
                }
                let value = outcome?;
                // `value` may contain a key that is returned only once, so later errors are only logged.
                let confirmed = match is_login {
                    Ok(true) => self.renew_confirmation(context).await.map(drop),
                    Ok(false) => Ok(()),
                    Err(error) => Err(error),
                };
                if let Err(error) = confirmed {
                    tracing::warn!(%error, "a confirmation was not recorded");
                }
                Ok(value)
            }
        }
    }

    /// Returns whether the request contains the login password, which counts as a confirmation. After a reset, or
    /// after a change while the vault was sealed, the vault's password may differ. It then unlocks the vault but
    /// does not count as a confirmation. Only a session can be confirmed.
    async fn is_login_password(
        &self,
        context: &RequestContext,
        sent: &Sent,
    ) -> Result<bool, AuthError> {
        if context.identity()?.as_session().is_none() {
            return Ok(false);
        }
        match sent {
            Sent::Nothing => Ok(false),
            Sent::Login => Ok(true),
            Sent::Vault(password) => {
                let verified = self.verify_password(context.client.key, password).await?;
                Ok(verified.is_some())
            }
        }
    }

    pub(super) async fn must_be_login_password(
        &self,
        context: &RequestContext,
        password: &SecretString,
    ) -> Result<(), AuthError> {
        if self.check_password(context, password).await?.is_some() {
            return Ok(());
        }
        self.note_failure(kinds::VAULT_KEY_REFUSED, &context.actor())
            .await;
        Err(AuthError::VaultBadKey)
    }

    pub(super) async fn has_vault_record(&self) -> Result<bool, AuthError> {
        let read = self.0.store.read(|conn| {
            Box::pin(async move { Ok::<_, AuthError>(conn.find_vault().await?.is_some()) })
        });
        read.await
    }

    async fn bad_key(&self, context: &RequestContext) -> AuthError {
        self.note_failure(kinds::VAULT_KEY_REFUSED, &context.actor())
            .await;
        AuthError::VaultBadKey
    }
}
