//! The vault's endpoints: required scope, recent confirmation and wrong-password limit. The crate
//! `secrets` implements the operations.

use crate::api::{
    EmptyRequest, VaultAnswer, VaultDisableAnswer, VaultDisableReport, VaultOptionalPassword,
    VaultPassword, VaultRecovery, VaultRecoveryKeyAnswer, VaultStatusAnswer,
};
use crate::audit::kinds;
use crate::error::AuthError;
use crate::request_context::{Caller, RequestContext};
use crate::state::Auth;
use gatehouse_domain::{Actor, Scope};
use gatehouse_secrets::{Secrets, Status, VaultError};
use secrecy::{ExposeSecret, SecretString};

/// The proof of identity in a vault request.
enum Sent {
    /// No password.
    Nothing,
    /// The login password, already verified.
    Login,
    /// The vault's password. It may differ from the login password.
    Vault(SecretString),
}

impl Auth {
    /// `GET /api/auth/vault/status`.
    pub fn vault_status(&self) -> VaultStatusAnswer {
        VaultStatusAnswer {
            status: self.0.secrets.status().as_str().to_owned(),
        }
    }

    /// Runs a vault operation to completion. A wrong password or key counts against the credential
    /// and is recorded in the audit log; the login password counts as a confirmation.
    async fn with_vault<T, F, W>(
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
        // Both hash the password, which takes long, so they run at the same time.
        let (outcome, is_login) = tokio::join!(work, self.is_login_password(context, &sent));
        match outcome {
            Err(AuthError::Vault(VaultError::BadKey)) => Err(self.bad_key(context).await),
            outcome => {
                if let Some(tried) = tried {
                    tried.give_back();
                }
                let value = outcome?;
                // The result may contain a key that is returned only once: nothing may fail after
                // it.
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

    /// Whether the request contains the login password, which counts as a confirmation. The vault's
    /// password may differ, after a reset or after a change while the vault was sealed; it then
    /// unlocks the vault but confirms nothing. Only a session can be confirmed.
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

    async fn must_be_login_password(
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

    async fn has_vault_record(&self) -> Result<bool, AuthError> {
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

    /// `POST /api/auth/vault/initialize`. Accepts only the current login password.
    pub async fn vault_initialize(
        &self,
        caller: &Caller<'_>,
        request: VaultPassword,
    ) -> Result<VaultAnswer, AuthError> {
        caller.context.require(Scope::Admin)?;
        let secrets = self.0.secrets.for_request();
        // If a record exists, the result is a conflict for any password.
        let exists = matches!(self.0.secrets.status(), Status::Sealed | Status::Unsealed);
        let sent = if exists {
            Sent::Nothing
        } else {
            self.must_be_login_password(caller.context, &request.password)
                .await?;
            Sent::Login
        };
        let key = self
            .with_vault(caller.context, sent, |_, actor| async move {
                secrets.initialize(&actor, request.password).await
            })
            .await?;
        Ok(self.vault_answer(Some(&key)))
    }

    /// `POST /api/auth/vault/unlock`.
    pub async fn vault_unlock(
        &self,
        caller: &Caller<'_>,
        request: VaultPassword,
    ) -> Result<VaultAnswer, AuthError> {
        caller.context.require(Scope::Write)?;
        let sent = Sent::Vault(request.password.clone());
        self.with_vault(caller.context, sent, |secrets, actor| async move {
            secrets
                .unseal_with_password(&actor, &request.password)
                .await
        })
        .await?;
        Ok(self.vault_answer(None))
    }

    /// `POST /api/auth/vault/recovery`.
    pub async fn vault_recovery(
        &self,
        caller: &Caller<'_>,
        request: VaultRecovery,
    ) -> Result<VaultAnswer, AuthError> {
        caller.context.require(Scope::Write)?;
        let key = request.recovery_key;
        self.with_vault(caller.context, Sent::Nothing, |secrets, actor| async move {
            secrets
                .unseal_with_recovery_key(&actor, key.expose_secret())
                .await
        })
        .await?;
        Ok(self.vault_answer(None))
    }

    /// `POST /api/auth/vault/disable`.
    pub async fn vault_disable(
        &self,
        caller: &Caller<'_>,
        request: VaultOptionalPassword,
    ) -> Result<VaultDisableAnswer, AuthError> {
        caller.context.require(Scope::Admin)?;
        let secrets = self.0.secrets.for_request();
        let password = request.password;
        self.step_up_with(caller, password.as_ref()).await?;
        let sent = password.clone().map_or(Sent::Nothing, Sent::Vault);
        let report = self
            .with_vault(caller.context, sent, |_, actor| async move {
                secrets.disable(&actor, password).await
            })
            .await?;
        Ok(VaultDisableAnswer {
            ok: true,
            status: self.0.secrets.status().as_str().to_owned(),
            restart_advised: true,
            report: VaultDisableReport {
                env_vars: report.env_vars,
                ssh_keys: report.ssh_keys,
                channels: report.channels,
                webhooks: report.webhooks,
                provider_keys: report.provider_keys,
                mcp_authorizations: report.mcp_authorizations,
            },
        })
    }

    /// `POST /api/auth/vault/enable`.
    pub async fn vault_enable(
        &self,
        caller: &Caller<'_>,
        request: VaultOptionalPassword,
    ) -> Result<VaultAnswer, AuthError> {
        caller.context.require(Scope::Admin)?;
        let secrets = self.0.secrets.for_request();
        let password = request.password;
        let mut sent = password.clone().map_or(Sent::Nothing, Sent::Vault);
        if let Some(password) = &password
            && !self.has_vault_record().await?
        {
            // This creates a vault: as with initialize, accept only the login password.
            self.must_be_login_password(caller.context, password)
                .await?;
            sent = Sent::Login;
        }
        let enabled = self
            .with_vault(caller.context, sent, |_, actor| async move {
                secrets.enable(&actor, password).await
            })
            .await?;
        Ok(self.vault_answer(enabled.recovery_key.as_ref()))
    }

    /// `POST /api/auth/vault/seal`.
    pub async fn vault_seal(
        &self,
        caller: &Caller<'_>,
        _request: EmptyRequest,
    ) -> Result<VaultAnswer, AuthError> {
        caller.context.require(Scope::Admin)?;
        // No password is checked, so the wrong-password limit does not prevent a seal.
        let (secrets, actor) = (self.0.secrets.clone(), caller.context.actor());
        self.durable(async move { Ok(secrets.seal(&actor).await?) })
            .await?;
        Ok(self.vault_answer(None))
    }

    /// `POST /api/auth/vault/rotate`.
    pub async fn vault_rotate(
        &self,
        caller: &Caller<'_>,
        request: VaultPassword,
    ) -> Result<VaultAnswer, AuthError> {
        caller.context.require(Scope::Admin)?;
        let secrets = self.0.secrets.for_request();
        self.step_up_with(caller, Some(&request.password)).await?;
        let sent = Sent::Vault(request.password.clone());
        let key = self
            .with_vault(caller.context, sent, |_, actor| async move {
                secrets.rotate(&actor, request.password).await
            })
            .await?;
        Ok(self.vault_answer(Some(&key)))
    }

    /// `POST /api/auth/vault/recovery-key`.
    pub async fn vault_recovery_key(
        &self,
        caller: &Caller<'_>,
        request: VaultPassword,
    ) -> Result<VaultRecoveryKeyAnswer, AuthError> {
        caller.context.require(Scope::Admin)?;
        self.step_up_with(caller, Some(&request.password)).await?;
        let sent = Sent::Vault(request.password.clone());
        let key = self
            .with_vault(caller.context, sent, |secrets, actor| async move {
                secrets.new_recovery_key(&actor, request.password).await
            })
            .await?;
        Ok(VaultRecoveryKeyAnswer {
            ok: true,
            recovery_key: key.expose_secret().to_owned(),
        })
    }

    fn vault_answer(&self, recovery_key: Option<&SecretString>) -> VaultAnswer {
        VaultAnswer {
            ok: true,
            status: self.0.secrets.status().as_str().to_owned(),
            recovery_key: recovery_key.map(|key| key.expose_secret().to_owned()),
        }
    }
}
