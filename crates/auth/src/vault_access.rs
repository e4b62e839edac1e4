//! The vault's endpoints: required scope, recent confirmation and wrong-password limit. The crate
//! `secrets` implements the operations.

mod passwords;

use crate::api::{
    EmptyRequest, VaultAnswer, VaultDisableAnswer, VaultDisableReport, VaultOptionalPassword,
    VaultPassword, VaultRecovery, VaultRecoveryKeyAnswer, VaultStatusAnswer,
};
use crate::error::AuthError;
use crate::request_context::Caller;
use crate::state::Auth;
use gatehouse_domain::Scope;
use gatehouse_secrets::Status;
use passwords::Sent;
use secrecy::{ExposeSecret, SecretString};

impl Auth {
    /// `GET /api/auth/vault/status`.
    pub fn vault_status(&self) -> VaultStatusAnswer {
        VaultStatusAnswer {
            status: self.0.secrets.status().as_str().to_owned(),
        }
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
            // This call creates a vault. As with initialize, only the login password is accepted.
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
        // No password is checked, so the limit for wrong passwords does not prevent a seal.
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
