//! The steps of a plan.

use super::{Step, VaultPlan};
use crate::VaultError;
use crate::request_start::RequestStart;
use crate::seen::Seen;
use crate::state::Inner;
use gatehouse_domain::Actor;
use gatehouse_vault::{Dek, VaultRecord};
use secrecy::SecretString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

impl Inner {
    pub(super) fn plan(
        self: &Arc<Self>,
        actor: &Actor,
        began: RequestStart,
        planned: Seen,
        step: Step,
    ) -> VaultPlan {
        VaultPlan {
            inner: Arc::clone(self),
            actor: actor.clone(),
            began,
            planned,
            step,
            applied: AtomicBool::new(false),
            concluded: AtomicBool::new(false),
        }
    }

    /// Handles a plan that was dropped after its transaction ran. If the transaction was committed, loads the key.
    pub(super) fn adopt_later(self: &Arc<Self>, began: RequestStart, dek: Arc<Dek>) {
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let inner = Arc::clone(self);
            let work = async move {
                if let Err(error) = inner.adopt(began, dek).await {
                    let error: &dyn std::error::Error = &error;
                    tracing::error!(error, "the new vault stays sealed");
                }
            };
            self.tasks.spawn_on(work, &runtime);
        }
    }

    /// Unseals with the key of a record that was just stored, if the record exists. Encrypts the secrets that were
    /// written in the meantime.
    pub(super) async fn adopt(
        self: &Arc<Self>,
        began: RequestStart,
        dek: Arc<Dek>,
    ) -> Result<(), VaultError> {
        let _alone = match self.alone_unless_superseded(began).await {
            Ok(alone) => alone,
            // A later request sealed the vault, so it stays sealed.
            Err(VaultError::Superseded) => return Ok(()),
            Err(error) => return Err(error),
        };
        let seen = self.view_alone().await?.seen;
        if seen.disabled || seen.dek_id.as_deref() != Some(dek.id().as_str()) {
            return Ok(());
        }
        self.hold(&dek, seen.generation)?;
        let (job, writing) = (Arc::clone(self), Arc::clone(&dek));
        let write = self
            .store
            .write(move |conn| Box::pin(async move { job.migrate(conn, &writing).await }));
        let migrated = write.await;
        self.settle_provider_keys(&dek).await;
        self.checkpoint().await;
        migrated.map(drop)
    }

    pub(super) async fn rewrap(
        &self,
        actor: &Actor,
        opened: &VaultRecord,
        dek: Arc<Dek>,
        password: &SecretString,
    ) -> Result<Step, VaultError> {
        let (random, now) = (Arc::clone(&self.random), self.now());
        let (opened, password) = (opened.clone(), password.clone());
        let made = self.kdf.run(actor.client, move || {
            let new = gatehouse_vault::rewrap_password(&opened, &dek, &password, &*random, now)?;
            Ok::<_, VaultError>(Step::Rewrap {
                opened: Box::new(opened),
                new: Box::new(new),
            })
        });
        made.await?
    }
}
