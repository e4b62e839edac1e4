//! Sealed → Unsealed, with the password or the recovery key. Also verifies either one while
//! unsealed.

use super::{Key, TRIES};
use crate::request_start::RequestStart;
use crate::seen::Seen;
use crate::state::Inner;
use crate::{Secrets, VaultError};
use gatehouse_domain::Actor;
use gatehouse_vault::{Dek, RecoveryKey, Status};
use secrecy::SecretString;
use serde_json::json;
use std::sync::Arc;

/// The credential that unseals the vault.
#[derive(Clone)]
pub(crate) enum UnsealCredential {
    Password,
    RecoveryKey,
    /// The answer of another node to this request.
    AnotherNode {
        request: String,
    },
}

impl UnsealCredential {
    /// Returns the text in the audit log.
    const fn as_str(&self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::RecoveryKey => "recovery_key",
            Self::AnotherNode { .. } => "another_node",
        }
    }
}

impl Secrets {
    /// Unseals with the password and encrypts all plaintext rows in the same step. Returns `BadKey`
    /// for a wrong password, even while the vault is unsealed. Returns `Superseded` if a request
    /// that started later sealed the vault.
    pub async fn unseal_with_password(
        &self,
        actor: &Actor,
        password: &SecretString,
    ) -> Result<Status, VaultError> {
        self.unseal(actor, Key::Password(password.clone())).await
    }

    /// Unseals with the recovery key as typed. Returns `BadKey` for a wrong or malformed key, even while the vault
    /// is unsealed.
    pub async fn unseal_with_recovery_key(
        &self,
        actor: &Actor,
        text: &str,
    ) -> Result<Status, VaultError> {
        self.0.view().await?.enabled_record()?;
        let key = RecoveryKey::parse(text).map_err(|_| VaultError::BadKey)?;
        self.unseal(actor, Key::Recovery(Arc::new(key))).await
    }

    async fn unseal(&self, actor: &Actor, key: Key) -> Result<Status, VaultError> {
        let (inner, actor, began) = (Arc::clone(&self.0), actor.clone(), self.began());
        let work = async move {
            let mut tries = TRIES;
            loop {
                tries -= 1;
                match inner.try_to_unseal(&actor, began, &key).await {
                    Err(VaultError::Changed) if tries > 0 => {}
                    outcome => return outcome,
                }
            }
        };
        self.0.to_the_end(work).await
    }
}

impl Inner {
    async fn try_to_unseal(
        self: &Arc<Self>,
        actor: &Actor,
        began: RequestStart,
        key: &Key,
    ) -> Result<Status, VaultError> {
        let view = self.view().await?;
        let dek = self.open_record(actor, view.enabled_record()?, key).await?;
        let _alone = self.alone_unless_superseded(began).await?;
        let now = self.view_unchanged(&view.seen).await?;
        if now.dek.is_some() {
            return Ok(now.status);
        }
        let credential = match key {
            Key::Password(_) => UnsealCredential::Password,
            Key::Recovery(_) => UnsealCredential::RecoveryKey,
        };
        self.unseal_alone(actor, credential, &now.seen, &dek).await
    }

    /// Unseals with the record's key. The caller must hold the gate exclusively.
    pub(crate) async fn unseal_alone(
        self: &Arc<Self>,
        actor: &Actor,
        credential: UnsealCredential,
        seen: &Seen,
        dek: &Arc<Dek>,
    ) -> Result<Status, VaultError> {
        let migrated = self.migrate_at_unseal(actor, credential, seen, dek).await?;
        let status = self.hold(dek, seen.generation)?;
        self.settle_provider_keys(dek).await;
        if migrated > 0 {
            self.checkpoint().await;
        }
        Ok(status)
    }

    async fn migrate_at_unseal(
        self: &Arc<Self>,
        actor: &Actor,
        credential: UnsealCredential,
        seen: &Seen,
        dek: &Arc<Dek>,
    ) -> Result<u64, VaultError> {
        let (job, actor, dek) = (Arc::clone(self), actor.clone(), Arc::clone(dek));
        let seen = seen.clone();
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                job.require_unchanged(conn, &seen).await?;
                let migrated = job.migrate(conn, &dek).await?;
                job.add_hold_key(conn, &dek).await?;
                match &credential {
                    UnsealCredential::Password | UnsealCredential::RecoveryKey => {
                        job.note_unlock(conn, &actor).await?;
                    }
                    UnsealCredential::AnotherNode { request } => {
                        job.end_request(conn, request).await?;
                    }
                }
                let detail = json!({ "by": credential.as_str(), "migrated": migrated });
                job.note(conn, "vault.unsealed", &actor, detail).await?;
                Ok::<_, VaultError>(migrated)
            })
        });
        write.await
    }
}
