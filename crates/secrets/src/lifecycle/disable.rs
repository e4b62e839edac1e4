//! Any enabled state → Disabled: either every secret is decrypted and the flag is stored, or nothing changes.

use super::Key;
use crate::provider_files::{ProviderFiles, Restored};
use crate::request_start::RequestStart;
use crate::rows::Turn;
use crate::seen::{self, VAULT_ENABLED, View};
use crate::state::Inner;
use crate::{Secrets, VaultError};
use gatehouse_domain::Actor;
use gatehouse_store::{Conn, SecretTable};
use gatehouse_vault::{Dek, RecordState, Status};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;

/// How many secrets of each kind were decrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DisableReport {
    /// Environment variables.
    pub env_vars: u64,
    /// SSH keys.
    pub ssh_keys: u64,
    /// Secrets of channel accounts.
    pub channels: u64,
    /// Secrets of webhooks.
    pub webhooks: u64,
    /// Provider keys.
    pub provider_keys: u64,
    /// Authorizations of MCP servers.
    pub mcp_authorizations: u64,
}

impl DisableReport {
    pub(crate) const fn add(&mut self, table: SecretTable, rows: u64) {
        match table {
            SecretTable::EnvVariables => self.env_vars += rows,
            SecretTable::SshKeys => self.ssh_keys += rows,
            SecretTable::ChannelSecrets => self.channels += rows,
            SecretTable::WebhookSecrets => self.webhooks += rows,
            SecretTable::ProviderKeys => self.provider_keys += rows,
            SecretTable::McpAuthorizations => self.mcp_authorizations += rows,
        }
    }

    pub(crate) const fn total(&self) -> u64 {
        self.env_vars
            + self.ssh_keys
            + self.channels
            + self.webhooks
            + self.provider_keys
            + self.mcp_authorizations
    }
}

impl Secrets {
    /// Decrypts all secrets and disables the vault. Needs the password while the vault is sealed. If the vault is
    /// uninitialized or disabled, there is nothing to decrypt, and only the flag is stored. Returns `Changed` or
    /// `Superseded` if the vault was changed or sealed after this request started.
    pub async fn disable(
        &self,
        actor: &Actor,
        password: Option<SecretString>,
    ) -> Result<DisableReport, VaultError> {
        let (inner, actor, began) = (Arc::clone(&self.0), actor.clone(), self.began());
        let key = password.map(Key::Password);
        let work = async move { inner.switch_off(&actor, began, key.as_ref()).await };
        self.0.to_the_end(work).await
    }
}

impl Inner {
    async fn switch_off(
        self: &Arc<Self>,
        actor: &Actor,
        began: RequestStart,
        key: Option<&Key>,
    ) -> Result<DisableReport, VaultError> {
        let settings = self.settings.load_full();
        if settings.vault_enabled_fixed && settings.vault_enabled {
            return Err(VaultError::FixedByEnvironment);
        }
        let view = self.view().await?;
        let dek = self.key_to_disable(actor, &view, key).await?;
        let _alone = self.alone_unless_superseded(began).await?;
        self.view_unchanged(&view.seen).await?;
        let restored = match dek.clone() {
            Some(dek) => {
                self.on_files(move |files| files.restore_plain(&dek))
                    .await?
            }
            None => Restored::default(),
        };
        let (job, actor, opener) = (Arc::clone(self), actor.clone(), dek.clone());
        let seen = view.seen;
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                job.require_unchanged(conn, &seen).await?;
                job.decrypt_all(conn, &actor, opener).await
            })
        });
        let (mut report, generation) = match write.await {
            Ok(done) => done,
            Err(error) => {
                if restored.made {
                    self.on_files(ProviderFiles::remove_plain).await?;
                }
                return Err(error);
            }
        };
        report.provider_keys += restored.keys;
        // While nothing is encrypted, the key is kept only to wrap it for a new password.
        self.switched(began, (false, generation), dek.or(view.spare));
        if let Err(error) = self.on_files(ProviderFiles::remove_copy).await {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(
                error,
                "the encrypted copy of the provider keys was not removed"
            );
        }
        self.checkpoint().await;
        Ok(report)
    }

    /// Returns the key for decryption; `None` when there is nothing to decrypt.
    async fn key_to_disable(
        &self,
        actor: &Actor,
        view: &View,
        key: Option<&Key>,
    ) -> Result<Option<Arc<Dek>>, VaultError> {
        match (view.status, view.seen.record) {
            (Status::Uninitialized, _) | (Status::Disabled, RecordState::Absent) => Ok(None),
            // The file or the environment disabled the vault while rows were encrypted. If the password is given,
            // the rows are decrypted now.
            (Status::Disabled, RecordState::Present) => match key {
                Some(key) => Ok(Some(self.open_record(actor, view.record()?, key).await?)),
                None => Ok(None),
            },
            (Status::Disabled | Status::Sealed | Status::Unsealed, RecordState::Lost) => {
                Err(VaultError::RecordLost)
            }
            (Status::Unsealed, _) => Ok(view.dek.clone()),
            (Status::Sealed, _) => {
                let key = key.ok_or(VaultError::Sealed)?;
                Ok(Some(self.open_record(actor, view.record()?, key).await?))
            }
        }
    }

    async fn decrypt_all(
        &self,
        conn: &mut Conn,
        actor: &Actor,
        dek: Option<Arc<Dek>>,
    ) -> Result<(DisableReport, i64), VaultError> {
        let report = match dek {
            Some(dek) => self.walk(conn, &Turn::Decrypt(dek)).await?,
            None => DisableReport::default(),
        };
        let detail = json!({ "decrypted": report.total() });
        self.note(conn, "vault.disabled", actor, detail).await?;
        Ok((report, self.store_flag(conn, false).await?))
    }

    /// Stores the flag, unless the environment fixes it, and notifies the other nodes. Returns the
    /// new generation.
    pub(crate) async fn store_flag(
        &self,
        conn: &mut Conn,
        enabled: bool,
    ) -> Result<i64, VaultError> {
        let now = self.now();
        if !self.settings.load().vault_enabled_fixed {
            conn.update_setting(VAULT_ENABLED, &json!(enabled), now)
                .await?;
            conn.insert_change("settings", now).await?;
        }
        Ok(seen::advance(conn, now).await?)
    }
}
