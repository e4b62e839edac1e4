//! Replaces the data key and the recovery key, and re-encrypts every secret in one transaction.
//!
//! The copy of the provider keys is a file, so the transaction cannot include it. The new copy is written beside
//! the old one before the commit, and replaces it after the commit. A crash in between leaves both copies. The next
//! unseal uses the copy that its key opens.

use crate::provider_files::ProviderFiles;
use crate::request_start::RequestStart;
use crate::rows::Turn;
use crate::seen::{self, Seen, View};
use crate::state::Inner;
use crate::{Secrets, VaultError, record};
use gatehouse_domain::Actor;
use gatehouse_store::Conn;
use gatehouse_vault::{Dek, RecoveryKey, VaultRecord};
use secrecy::SecretString;
use serde_json::json;
use std::sync::Arc;

struct Rotation {
    seen: Seen,
    /// Whether the vault was sealed on this node. The password also unlocks it.
    was_sealed: bool,
    opened: VaultRecord,
    new: VaultRecord,
    old_dek: Arc<Dek>,
    new_dek: Arc<Dek>,
    recovery_key: RecoveryKey,
}

impl Secrets {
    /// Replaces the data key. Requires the password even while the vault is unsealed. The vault is unsealed
    /// afterward. The old recovery key becomes invalid. The new one is returned only once. Returns `Changed` or
    /// `Superseded` if the vault was changed or sealed after this request started.
    pub async fn rotate(
        &self,
        actor: &Actor,
        password: SecretString,
    ) -> Result<SecretString, VaultError> {
        let (inner, actor, began) = (Arc::clone(&self.0), actor.clone(), self.began());
        let work = async move { inner.replace_key(&actor, began, &password).await };
        self.0.to_the_end(work).await
    }
}

impl Inner {
    async fn replace_key(
        self: &Arc<Self>,
        actor: &Actor,
        began: RequestStart,
        password: &SecretString,
    ) -> Result<SecretString, VaultError> {
        let view = self.view().await?;
        let rotation = Arc::new(self.make_rotation(actor, view, password).await?);
        let _alone = self.alone_unless_superseded(began).await?;
        self.view_unchanged(&rotation.seen).await?;
        let (random, deks) = (Arc::clone(&self.random), Arc::clone(&rotation));
        let prepared =
            self.on_files(move |files| files.prepare_next(&deks.old_dek, &deks.new_dek, &*random));
        prepared.await?;
        let (job, actor, wanted) = (Arc::clone(self), actor.clone(), Arc::clone(&rotation));
        let write = self
            .store
            .write(move |conn| Box::pin(async move { job.rekey(conn, &actor, &wanted).await }));
        let generation = match write.await {
            Ok(generation) => generation,
            Err(error) => {
                // These errors mean that the record was not replaced. After any other error, the record may have
                // been replaced. Both copies are then kept, and the next unseal uses the copy that its key opens.
                if matches!(error, VaultError::Changed | VaultError::Undecryptable(_)) {
                    self.on_files(ProviderFiles::drop_next).await?;
                }
                return Err(error);
            }
        };
        self.hold(&rotation.new_dek, generation)?;
        self.settle_provider_keys(&rotation.new_dek).await;
        self.checkpoint().await;
        Ok(rotation.recovery_key.to_display())
    }

    async fn make_rotation(
        &self,
        actor: &Actor,
        view: View,
        password: &SecretString,
    ) -> Result<Rotation, VaultError> {
        let opened = view.enabled_record()?.clone();
        let key = super::Key::Password(password.clone());
        let old_dek = self.open_record(actor, &opened, &key).await?;
        let made = self.make_vault(actor, password.clone()).await?;
        let new = VaultRecord {
            created_at: opened.created_at,
            ..made.record
        };
        let new = new.keep_hold_key(&made.dek, &opened, &old_dek, &*self.random)?;
        Ok(Rotation {
            was_sealed: view.dek.is_none(),
            seen: view.seen,
            new,
            opened,
            old_dek,
            new_dek: made.dek,
            recovery_key: made.recovery_key,
        })
    }

    async fn rekey(
        &self,
        conn: &mut Conn,
        actor: &Actor,
        rotation: &Rotation,
    ) -> Result<i64, VaultError> {
        self.require_unchanged(conn, &rotation.seen).await?;
        record::replace(conn, &rotation.opened, &rotation.new).await?;
        let turn = Turn::Rekey {
            old: Arc::clone(&rotation.old_dek),
            new: Arc::clone(&rotation.new_dek),
        };
        let report = self.walk(conn, &turn).await?;
        let detail = json!({ "dek_id": rotation.new.dek_id, "secrets": report.total() });
        self.note(conn, "vault.rotated", actor, detail).await?;
        if rotation.was_sealed {
            self.note_unlock(conn, actor).await?;
        }
        let generation = seen::advance(conn, self.now()).await?;
        let deks = (&*rotation.old_dek, &*rotation.new_dek);
        self.hand_over(conn, deks, generation).await?;
        Ok(generation)
    }
}
