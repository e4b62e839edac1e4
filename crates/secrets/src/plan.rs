//! The vault's part of a change of the login password. It is planned before the caller's transaction (keys are
//! derived here), applied inside it, and concluded after its commit.

mod carry_out;

use crate::lifecycle::Key;
use crate::lifecycle::initialize::New;
use crate::request_start::RequestStart;
use crate::seen::{Seen, View};
use crate::state::Inner;
use crate::{Secrets, VaultError, record, seen};
use gatehouse_domain::{Actor, Timestamp};
use gatehouse_store::Conn;
use gatehouse_vault::{Dek, RecordState, VaultRecord};
use secrecy::SecretString;
use serde_json::json;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The planned change of the vault for a password change.
pub struct VaultPlan {
    inner: Arc<Inner>,
    actor: Actor,
    began: RequestStart,
    planned: Seen,
    step: Step,
    applied: AtomicBool,
    concluded: AtomicBool,
}

enum Step {
    Nothing,
    /// Create the first vault.
    Make {
        new: Box<New>,
    },
    /// Wrap the same data key with the new password.
    Rewrap {
        opened: Box<VaultRecord>,
        new: Box<VaultRecord>,
    },
}

impl fmt::Debug for VaultPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = match self.step {
            Step::Nothing => "nothing",
            Step::Make { .. } => "make",
            Step::Rewrap { .. } => "rewrap",
        };
        f.debug_struct("VaultPlan")
            .field("step", &step)
            .finish_non_exhaustive()
    }
}

impl VaultPlan {
    /// Changes the vault record in the caller's transaction and, for a first vault, the rows. Returns `Changed` if
    /// the vault changed since the plan was created; the caller's transaction must then fail. Always advances the
    /// generation, even if the record is unchanged. As a result, the concurrent creation of a vault for the old
    /// password fails.
    pub async fn apply(&self, conn: &mut Conn, now: Timestamp) -> Result<(), VaultError> {
        self.applied.store(true, Ordering::SeqCst);
        self.inner.require_unchanged(conn, &self.planned).await?;
        match &self.step {
            Step::Nothing => {}
            Step::Make { new } => {
                self.inner.store_vault(conn, &self.actor, new).await?;
                return Ok(());
            }
            Step::Rewrap { opened, new } => {
                record::replace(conn, opened, new).await?;
                let note = self
                    .inner
                    .note(conn, "vault.rewrapped", &self.actor, json!({}));
                note.await?;
            }
        }
        seen::advance(conn, now).await?;
        Ok(())
    }
}

impl Drop for VaultPlan {
    fn drop(&mut self) {
        let applied = self.applied.load(Ordering::SeqCst);
        if let Step::Make { new } = &self.step
            && applied
            && !self.concluded.load(Ordering::SeqCst)
        {
            self.inner.adopt_later(self.began, Arc::clone(&new.dek));
        }
    }
}

impl Secrets {
    /// Plans for the first password. Creates a vault if none exists and the vault is enabled. After a reset, an
    /// existing record is rewrapped if its key is in memory. Otherwise the record keeps its password.
    pub async fn plan_first_password(
        &self,
        actor: &Actor,
        password: &SecretString,
    ) -> Result<VaultPlan, VaultError> {
        let began = self.began();
        let view = self.0.view().await?;
        let step = match view.seen.record {
            RecordState::Absent if !view.seen.disabled => Step::Make {
                new: Box::new(self.0.make_vault(actor, password.clone()).await?),
            },
            RecordState::Present => match key_in_memory(&view) {
                Some(dek) => self.0.rewrap(actor, view.record()?, dek, password).await?,
                None => Step::Nothing,
            },
            RecordState::Absent | RecordState::Lost => Step::Nothing,
        };
        Ok(self.0.plan(actor, began, view.seen, step))
    }

    /// Plans for a changed password. Rewraps the record with the key in memory, or with the key that the current
    /// password opens. If neither is available, only the login password changes.
    pub async fn plan_password_change(
        &self,
        actor: &Actor,
        current: &SecretString,
        new: &SecretString,
    ) -> Result<VaultPlan, VaultError> {
        let began = self.began();
        let view = self.0.view().await?;
        let Some(record) = &view.record else {
            return Ok(self.0.plan(actor, began, view.seen, Step::Nothing));
        };
        let dek = if let Some(dek) = key_in_memory(&view) {
            Ok(dek)
        } else {
            let key = Key::Password(current.clone());
            self.0.open_record(actor, record, &key).await
        };
        let step = match dek {
            Ok(dek) => self.0.rewrap(actor, record, dek, new).await?,
            Err(VaultError::BadKey | VaultError::Unusable(_)) => Step::Nothing,
            Err(error) => return Err(error),
        };
        Ok(self.0.plan(actor, began, view.seen, step))
    }

    /// Concludes a plan after the caller's commit. Loads the key of a first vault and returns its recovery key,
    /// which cannot be retrieved again.
    pub async fn conclude(&self, plan: Arc<VaultPlan>) -> Option<SecretString> {
        plan.concluded.store(true, Ordering::SeqCst);
        let work = {
            let (inner, plan) = (Arc::clone(&self.0), Arc::clone(&plan));
            async move {
                match &plan.step {
                    Step::Make { new } => inner.adopt(plan.began, Arc::clone(&new.dek)).await,
                    Step::Nothing => inner.view().await.map(drop),
                    Step::Rewrap { .. } => {
                        inner.checkpoint().await;
                        inner.view().await.map(drop)
                    }
                }
            }
        };
        if let Err(error) = self.0.to_the_end(work).await {
            // The change is committed, so the new recovery key is returned anyway. The next unlock loads the
            // change.
            let error: &dyn std::error::Error = &error;
            tracing::error!(error, "the committed vault change was not loaded");
        }
        match &plan.step {
            Step::Make { new } => Some(new.recovery_key.to_display()),
            Step::Nothing | Step::Rewrap { .. } => None,
        }
    }
}

fn key_in_memory(view: &View) -> Option<Arc<Dek>> {
    view.dek.clone().or_else(|| view.spare.clone())
}
