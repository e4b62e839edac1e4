//! A new recovery key for the same data key.

use super::Key;
use crate::state::Inner;
use crate::{Secrets, VaultError, record, seen};
use gatehouse_domain::Actor;
use gatehouse_vault::RecoveryKey;
use secrecy::SecretString;
use serde_json::json;
use std::sync::Arc;

impl Secrets {
    /// Creates a new recovery key. The old one becomes invalid. The new key cannot be retrieved again. Returns
    /// `Changed` if the vault changed after this request started, so only one of two concurrent requests gets a
    /// key.
    pub async fn new_recovery_key(
        &self,
        actor: &Actor,
        password: SecretString,
    ) -> Result<SecretString, VaultError> {
        let (inner, actor) = (Arc::clone(&self.0), actor.clone());
        let key = Key::Password(password);
        let work = async move {
            let made = inner.replace_recovery_key(&actor, &key).await?;
            Ok(made.to_display())
        };
        self.0.to_the_end::<_, VaultError, _>(work).await
    }
}

impl Inner {
    async fn replace_recovery_key(
        self: &Arc<Self>,
        actor: &Actor,
        key: &Key,
    ) -> Result<RecoveryKey, VaultError> {
        let view = self.view().await?;
        let opened = view.enabled_record()?.clone();
        let dek = self.open_record(actor, &opened, key).await?;
        let (random, now, old) = (Arc::clone(&self.random), self.now(), opened.clone());
        let made = self.kdf.run(actor.client, move || {
            gatehouse_vault::new_recovery_key(&old, &dek, &*random, now)
        });
        let (new, recovery_key) = made.await??;
        let _alone = self.alone().await;
        let (job, actor) = (Arc::clone(self), actor.clone());
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                job.require_unchanged(conn, &view.seen).await?;
                record::replace(conn, &opened, &new).await?;
                job.note(conn, "vault.recovery_key", &actor, json!({}))
                    .await?;
                Ok::<_, VaultError>(seen::advance(conn, job.now()).await?)
            })
        });
        self.rewrapped(write.await?);
        Ok(recovery_key)
    }
}
