//! The interface for other crates to the sharing of the vault key among nodes.

use super::{delete_old, is_kept};
use crate::{Secrets, SecretsError, VaultError};
use gatehouse_store::{StoreError, VaultShareRow};
use gatehouse_vault::{ClusterKey, MIN_CLUSTER_SECRET_CHARACTERS};
use secrecy::SecretString;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Secrets {
    /// Lets this node share the data key with nodes that have the same secret. Does nothing on a database that
    /// nodes do not share, and after the first call. Returns `Invalid` for a short secret.
    pub async fn join_cluster(&self, secret: &SecretString) -> Result<(), SecretsError> {
        if !self.0.store.engine().is_shared() {
            return Ok(());
        }
        let secret = secret.clone();
        let job = tokio::task::spawn_blocking(move || ClusterKey::derive(&secret));
        let Some(key) = job.await.map_err(|_| SecretsError::TaskAborted)?? else {
            let reason = format!("at least {MIN_CLUSTER_SECRET_CHARACTERS} characters");
            return Err(SecretsError::invalid("vault.cluster_secret", reason));
        };
        drop(self.0.sharing.cluster.set(key));
        Ok(())
    }

    /// Applies `vault.share_unseal`.
    pub fn set_share_unseal(&self, is_on: bool) {
        self.0.sharing.is_off.store(!is_on, Ordering::SeqCst);
    }

    /// Returns whether this node has joined a cluster, so that [`Secrets::share_unseal`] has work to do.
    pub fn is_in_cluster(&self) -> bool {
        self.0.sharing.cluster.get().is_some()
    }

    /// Deletes old requests and answers of nodes, even if this node does not share. They contain the encrypted data
    /// key, and nodes that stopped sharing do not delete them.
    pub async fn sweep_shares(&self) -> Result<(), StoreError> {
        let store = &self.0.store;
        if !store.engine().is_shared() {
            return Ok(());
        }
        let read = store.read(|conn| Box::pin(async move { conn.list_vault_shares().await }));
        let rows: Result<Vec<VaultShareRow>, StoreError> = read.await;
        let now = self.0.now();
        if rows?.iter().all(|row| is_kept(row, now)) {
            return Ok(());
        }
        let write = store.write(move |conn| Box::pin(async move { delete_old(conn, now).await }));
        write.await
    }

    /// Runs one round of sharing. While the vault is sealed, requests the data key, or unseals with an answer.
    /// While it is unsealed, answers the requests of other nodes. Call it after each change by another node, after
    /// each change of the status, and every 20 seconds.
    pub async fn share_unseal(&self) -> Result<(), VaultError> {
        let inner = Arc::clone(&self.0);
        let work = async move { inner.share_round().await };
        match self.0.to_the_end(work).await {
            // The next round begins with the new state.
            Err(VaultError::Changed | VaultError::Superseded) => Ok(()),
            outcome => outcome,
        }
    }
}
