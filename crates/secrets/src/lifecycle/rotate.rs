//! A new data key and a new recovery key; every secret is encrypted again, in one transaction.
//!
//! The copy of the provider keys is a file and cannot be part of the transaction: the new copy is
//! put beside the old one before the commit and takes its place after it. A crash between the two
//! leaves both, and the next unseal takes the one that its key opens.

use super::TRIES;
use crate::provider_files::ProviderFiles;
use crate::rows::Turn;
use crate::state::Inner;
use crate::{Secrets, VaultError, record};
use gatehouse_domain::Actor;
use gatehouse_store::Conn;
use gatehouse_vault::{Dek, RecoveryKey, VaultRecord};
use secrecy::SecretString;
use serde_json::json;
use std::sync::Arc;

struct Rotation {
    opened: VaultRecord,
    new: VaultRecord,
    old_dek: Arc<Dek>,
    new_dek: Arc<Dek>,
    recovery_key: RecoveryKey,
}

impl Secrets {
    /// Replaces the data key. Takes the password, also while unsealed; afterwards the vault is
    /// unsealed. The old recovery key stops working; the new one is given out this once.
    pub async fn rotate(
        &self,
        actor: &Actor,
        password: SecretString,
    ) -> Result<SecretString, VaultError> {
        let (inner, actor) = (Arc::clone(&self.0), actor.clone());
        let work = async move {
            let mut tries = TRIES;
            loop {
                tries -= 1;
                match inner.try_to_rotate(&actor, &password).await {
                    Err(VaultError::Changed) if tries > 0 => {}
                    outcome => return outcome,
                }
            }
        };
        self.0.to_the_end(work).await
    }
}

impl Inner {
    async fn try_to_rotate(
        self: &Arc<Self>,
        actor: &Actor,
        password: &SecretString,
    ) -> Result<SecretString, VaultError> {
        let opened = self.view().await?.enabled_record()?.clone();
        let rotation = Arc::new(self.make_rotation(actor, opened, password).await?);
        let _alone = self.alone().await;
        let (random, deks) = (Arc::clone(&self.random), Arc::clone(&rotation));
        let prepared =
            self.on_files(move |files| files.prepare_next(&deks.old_dek, &deks.new_dek, &*random));
        prepared.await?;
        let (job, actor, wanted) = (Arc::clone(self), actor.clone(), Arc::clone(&rotation));
        let write = self
            .store
            .write(move |conn| Box::pin(async move { job.rekey(conn, &actor, &wanted).await }));
        if let Err(error) = write.await {
            // The record was not replaced as far as we know; if it was, the next unseal remakes it.
            if matches!(error, VaultError::Changed | VaultError::Undecryptable(_)) {
                self.on_files(ProviderFiles::drop_next).await?;
            }
            return Err(error);
        }
        self.hold(&rotation.new_dek)?;
        self.settle_provider_keys(&rotation.new_dek).await;
        self.checkpoint().await;
        Ok(rotation.recovery_key.to_display())
    }

    async fn make_rotation(
        &self,
        actor: &Actor,
        opened: VaultRecord,
        password: &SecretString,
    ) -> Result<Rotation, VaultError> {
        let key = super::Key::Password(password.clone());
        let old_dek = self.open_record(actor, &opened, &key).await?;
        let made = self.make_vault(actor, password.clone()).await?;
        Ok(Rotation {
            new: VaultRecord {
                created_at: opened.created_at,
                ..made.record
            },
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
    ) -> Result<(), VaultError> {
        record::replace(conn, &rotation.opened, &rotation.new).await?;
        let turn = Turn::Rekey {
            old: Arc::clone(&rotation.old_dek),
            new: Arc::clone(&rotation.new_dek),
        };
        let report = self.walk(conn, &turn).await?;
        let detail = json!({ "dek_id": rotation.new.dek_id, "secrets": report.rows() });
        self.note(conn, "vault.rotated", actor, detail).await?;
        conn.insert_change("vault", self.now()).await?;
        Ok(())
    }
}
