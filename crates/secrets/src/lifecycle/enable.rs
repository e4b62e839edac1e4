//! Disabled → Unsealed, Sealed or Uninitialized.

use super::initialize::New;
use super::{Key, TRIES};
use crate::state::Inner;
use crate::{Secrets, VaultError, record};
use gatehouse_domain::Actor;
use gatehouse_store::Conn;
use gatehouse_vault::{Dek, RecordState, RecoveryKey, Status};
use secrecy::SecretString;
use serde_json::json;
use std::sync::Arc;

/// The vault is switched on.
#[derive(Debug)]
pub struct Enabled {
    /// What it is now.
    pub status: Status,
    /// When a vault was made just now: its recovery key, given out this once.
    pub recovery_key: Option<SecretString>,
}

/// What is enabled.
enum Plan {
    /// The flag alone.
    Flag,
    /// The flag and the record, opened.
    Open(Arc<Dek>),
    /// The flag and a new record.
    Make(Arc<New>),
}

impl Secrets {
    /// Switches the vault on. With the password it is unsealed and everything is encrypted; a vault
    /// is made for the password (which the caller has checked to be the login's) when there is none.
    /// Without it the vault is sealed while a record exists, else uninitialized. While the vault is
    /// on already, this stores the flag and, with the password, unseals.
    pub async fn enable(
        &self,
        actor: &Actor,
        password: Option<SecretString>,
    ) -> Result<Enabled, VaultError> {
        let (inner, actor) = (Arc::clone(&self.0), actor.clone());
        let work = async move {
            let mut tries = TRIES;
            loop {
                tries -= 1;
                match inner.try_to_enable(&actor, password.as_ref()).await {
                    Err(VaultError::Changed) if tries > 0 => {}
                    outcome => return outcome,
                }
            }
        };
        self.0.to_the_end(work).await
    }
}

impl Inner {
    async fn try_to_enable(
        self: &Arc<Self>,
        actor: &Actor,
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
        let _alone = self.alone().await;
        if self.view_alone().await?.seen != view.seen {
            return Err(VaultError::Changed);
        }
        self.carry_out(actor, plan).await
    }

    async fn carry_out(self: &Arc<Self>, actor: &Actor, plan: Plan) -> Result<Enabled, VaultError> {
        let plan = Arc::new(plan);
        let (job, actor, wanted) = (Arc::clone(self), actor.clone(), Arc::clone(&plan));
        let write = self.store.write(move |conn| {
            Box::pin(async move { job.store_plan(conn, &actor, &wanted).await })
        });
        write.await?;
        let (dek, recovery_key) = match &*plan {
            Plan::Flag => {
                let status = self.switched(true, None);
                return Ok(Enabled {
                    status,
                    recovery_key: None,
                });
            }
            Plan::Open(dek) => (dek, None),
            Plan::Make(new) => (&new.dek, Some(RecoveryKey::to_display(&new.recovery_key))),
        };
        let status = self.hold(dek)?;
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
    ) -> Result<(), VaultError> {
        let migrated = match plan {
            Plan::Flag => 0,
            Plan::Open(dek) => {
                record::require_dek(conn, dek.id().as_str()).await?;
                self.migrate(conn, dek).await?
            }
            Plan::Make(new) => {
                record::insert(conn, &new.record).await?;
                self.migrate(conn, &new.dek).await?
            }
        };
        self.store_flag(conn, true).await?;
        let detail = json!({ "migrated": migrated });
        self.note(conn, "vault.enabled", actor, detail).await?;
        Ok(())
    }
}
