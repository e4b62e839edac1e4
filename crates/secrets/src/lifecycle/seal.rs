//! Unsealed → Sealed, on this node.

use crate::{Secrets, VaultError};
use gatehouse_domain::Actor;
use gatehouse_vault::Status;
use serde_json::json;
use std::sync::Arc;

impl Secrets {
    /// Forgets the data key.
    pub async fn seal(&self, actor: &Actor) -> Result<Status, VaultError> {
        let (inner, actor) = (Arc::clone(&self.0), actor.clone());
        let work = async move {
            let _alone = inner.gate.write().await;
            let view = inner.view_alone().await?;
            view.enabled_record()?;
            if view.status == Status::Sealed {
                return Ok(Status::Sealed);
            }
            inner.store.check_guard().await?;
            // First of all: whether the row below can be written must not decide about it.
            let status = inner.forget()?;
            let job = Arc::clone(&inner);
            let write = inner.store.write(move |conn| {
                Box::pin(async move {
                    job.note(conn, "vault.sealed", &actor, json!({})).await?;
                    Ok::<_, VaultError>(())
                })
            });
            if let Err(error) = write.await {
                let error: &dyn std::error::Error = &error;
                tracing::error!(
                    error,
                    "the vault is sealed, but the audit log does not say so"
                );
            }
            Ok(status)
        };
        self.0.to_the_end(work).await
    }
}
