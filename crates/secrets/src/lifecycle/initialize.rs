//! Uninitialized → Unsealed.

use crate::state::Inner;
use crate::{Secrets, VaultError, record, seen};
use gatehouse_domain::Actor;
use gatehouse_store::Conn;
use gatehouse_vault::{Dek, RecoveryKey, VaultRecord};
use secrecy::SecretString;
use serde_json::json;
use std::sync::Arc;

/// A vault that is created but not yet stored.
pub(crate) struct New {
    pub(crate) record: VaultRecord,
    pub(crate) dek: Arc<Dek>,
    pub(crate) recovery_key: RecoveryKey,
}

impl Secrets {
    /// Creates a vault for this password and encrypts existing secrets. The caller has verified that it is the
    /// login password. Returns the recovery key, which cannot be retrieved again. Returns `Changed` if the password
    /// or the vault changed after this request started.
    pub async fn initialize(
        &self,
        actor: &Actor,
        password: SecretString,
    ) -> Result<SecretString, VaultError> {
        let (inner, actor, began) = (Arc::clone(&self.0), actor.clone(), self.began());
        let work = async move {
            let view = inner.view().await?;
            view.require_absent()?;
            let new = Arc::new(inner.make_vault(&actor, password).await?);
            let _alone = inner.alone_unless_superseded(began).await?;
            inner.view_unchanged(&view.seen).await?;
            let (job, made) = (Arc::clone(&inner), Arc::clone(&new));
            let write = inner.store.write(move |conn| {
                Box::pin(async move {
                    job.require_unchanged(conn, &view.seen).await?;
                    job.store_vault(conn, &actor, &made).await
                })
            });
            inner.hold(&new.dek, write.await?)?;
            inner.settle_provider_keys(&new.dek).await;
            inner.checkpoint().await;
            Ok(new.recovery_key.to_display())
        };
        self.0.to_the_end(work).await
    }
}

impl Inner {
    pub(crate) async fn make_vault(
        &self,
        actor: &Actor,
        password: SecretString,
    ) -> Result<New, VaultError> {
        let (random, now) = (Arc::clone(&self.random), self.now());
        let made = self.kdf.run(actor.client, move || {
            gatehouse_vault::create(&password, &*random, now)
        });
        let (record, dek, recovery_key) = made.await??;
        Ok(New {
            record,
            dek: Arc::new(dek),
            recovery_key,
        })
    }

    /// Stores the record, encrypts the rows, and writes the audit row and the notification to other
    /// nodes, in one transaction. Returns the new generation.
    pub(crate) async fn store_vault(
        &self,
        conn: &mut Conn,
        actor: &Actor,
        new: &New,
    ) -> Result<i64, VaultError> {
        record::insert(conn, &new.record).await?;
        let migrated = self.migrate(conn, &new.dek).await?;
        let detail = json!({ "dek_id": new.record.dek_id, "migrated": migrated });
        self.note(conn, "vault.initialized", actor, detail).await?;
        self.note_unlock(conn, actor).await?;
        Ok(seen::advance(conn, self.now()).await?)
    }
}
