//! Unsealed → Sealed, on this node.

use crate::{Secrets, VaultError};
use gatehouse_domain::Actor;
use gatehouse_vault::Status;
use serde_json::json;
use std::sync::Arc;

impl Secrets {
    /// Drops the data key. Requests that started earlier do not load it again. Other nodes do not share their key
    /// until a person unlocks a node.
    pub async fn seal(&self, actor: &Actor) -> Result<Status, VaultError> {
        let (inner, actor, began) = (Arc::clone(&self.0), actor.clone(), self.began());
        let work = async move {
            let _alone = inner.alone().await;
            match inner.view_alone().await {
                Ok(view) => drop(view.enabled_record()?),
                // An unavailable database must not keep the key in memory.
                Err(_) if inner.dek().is_some() => {}
                Err(error) => return Err(error),
            }
            // A caller whose credential has ended may not seal. If the database is unavailable, the vault is sealed
            // anyway, because the key must not stay in memory.
            if let Err(error) = inner.store.check_guard().await
                && !error.is_unavailable()
            {
                return Err(error.into());
            }
            let was_sealed = inner.dek().is_none();
            // The key is dropped before the audit row is written, because a failed write must not prevent the seal.
            let status = inner.forget(began)?;
            if was_sealed && !inner.store.engine().is_shared() {
                return Ok(status);
            }
            let job = Arc::clone(&inner);
            let write = inner.store.write(move |conn| {
                Box::pin(async move {
                    if !was_sealed {
                        job.note(conn, "vault.sealed", &actor, json!({})).await?;
                    }
                    Ok::<_, VaultError>(job.note_owner_seal(conn).await?)
                })
            });
            match write.await {
                Ok(unlocks) => inner.note_sealed_after(unlocks),
                Err(error) => {
                    let error: &dyn std::error::Error = &error;
                    tracing::error!(
                        error,
                        "the vault was sealed, but this was not written to the audit log; other nodes may unseal it \
                         after a restart"
                    );
                }
            }
            Ok(status)
        };
        self.0.to_the_end(work).await
    }
}
