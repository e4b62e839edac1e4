//! Disabled → Unsealed, Sealed or Uninitialized.

use super::Key;
use super::initialize::New;
use crate::request_start::RequestStart;
use crate::seen::Seen;
use crate::state::Inner;
use crate::{Secrets, VaultError, record};
use gatehouse_domain::Actor;
use gatehouse_store::Conn;
use gatehouse_vault::{Dek, RecordState, RecoveryKey, Status};
use secrecy::SecretString;
use serde_json::json;
use std::sync::Arc;

/// The result of enabling the vault.
#[derive(Debug)]
pub struct Enabled {
    /// The new status.
    pub status: Status,
    /// The recovery key, if a vault was created. Returned only once.
    pub recovery_key: Option<SecretString>,
}

/// The changes that enabling stores.
enum Plan {
    /// Only the flag.
    Flag,
    /// The flag, and the key that the password opened.
    Open(Arc<Dek>),
    /// The flag and a new record.
    Make(Arc<New>),
}

impl Secrets {
    /// Enables the vault. With the password, unseals the vault and encrypts all secrets. If no record exists,
    /// creates one for the password; the caller has verified that it is the login password. Without the password,
    /// the vault is sealed if a record exists, otherwise uninitialized. If the vault is already enabled, stores the
    /// flag, and unseals with the password if given.
    pub async fn enable(
        &self,
        actor: &Actor,
        password: Option<SecretString>,
    ) -> Result<Enabled, VaultError> {
        let (inner, actor, began) = (Arc::clone(&self.0), actor.clone(), self.began());
        let work = async move { inner.switch_on(&actor, began, password.as_ref()).await };
        self.0.to_the_end(work).await
    }
}

impl Inner {
    async fn switch_on(
        self: &Arc<Self>,
        actor: &Actor,
        began: RequestStart,
        password: Option<&SecretString>,
    ) -> Result<Enabled, VaultError> {
        let settings = self.settings.load_full();
        if settings.vault_enabled_fixed && !settings.vault_enabled {
            return Err(VaultError::FixedByEnvironment);
        }
        let view = self.view().await?;
        let plan = match (password, view.seen.record) {
            (None, _) => Plan::Flag,
            (Some(_), RecordState::Lost) => return Err(VaultError::RecordLost),
            (Some(password), RecordState::Present) => {
                let key = Key::Password(password.clone());
                Plan::Open(self.open_record(actor, view.record()?, &key).await?)
            }
            (Some(password), RecordState::Absent) => {
                Plan::Make(Arc::new(self.make_vault(actor, password.clone()).await?))
            }
        };
        let _alone = self.alone_unless_superseded(began).await?;
        self.view_unchanged(&view.seen).await?;
        self.carry_out(actor, began, view.seen, plan).await
    }

    async fn carry_out(
        self: &Arc<Self>,
        actor: &Actor,
        began: RequestStart,
        seen: Seen,
        plan: Plan,
    ) -> Result<Enabled, VaultError> {
        let plan = Arc::new(plan);
        let (job, actor, wanted) = (Arc::clone(self), actor.clone(), Arc::clone(&plan));
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                job.require_unchanged(conn, &seen).await?;
                job.store_plan(conn, &actor, &wanted).await
            })
        });
        let generation = write.await?;
        let (dek, recovery_key) = match &*plan {
            Plan::Flag => {
                let status = self.switched(began, (true, generation), None);
                return Ok(Enabled {
                    status,
                    recovery_key: None,
                });
            }
            Plan::Open(dek) => (dek, None),
            Plan::Make(new) => (&new.dek, Some(RecoveryKey::to_display(&new.recovery_key))),
        };
        let status = self.hold(dek, generation)?;
        self.settle_provider_keys(dek).await;
        self.checkpoint().await;
        Ok(Enabled {
            status,
            recovery_key,
        })
    }

    async fn store_plan(
        &self,
        conn: &mut Conn,
        actor: &Actor,
        plan: &Plan,
    ) -> Result<i64, VaultError> {
        let migrated = match plan {
            Plan::Flag => 0,
            Plan::Open(dek) => self.migrate(conn, dek).await?,
            Plan::Make(new) => {
                record::insert(conn, &new.record).await?;
                self.migrate(conn, &new.dek).await?
            }
        };
        let detail = json!({ "migrated": migrated });
        self.note(conn, "vault.enabled", actor, detail).await?;
        // Enabling at an unlocked node does not count as an unlock.
        if !matches!(plan, Plan::Flag) && self.dek().is_none() {
            self.note_unlock(conn, actor).await?;
        }
        self.store_flag(conn, true).await
    }
}
