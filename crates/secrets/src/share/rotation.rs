//! Passes the data key of a rotation to nodes that have the previous key, so that they stay unsealed.

use super::{delete_old, is_key_of};
use crate::VaultError;
use crate::seen::Seen;
use crate::state::Inner;
use gatehouse_store::{Conn, StoreError, VaultShareRow};
use gatehouse_vault::{Dek, VaultRecord};
use std::sync::Arc;

impl Inner {
    /// Stores the new data key for nodes that have the old one, in the transaction of the rotation.
    pub(crate) async fn hand_over(
        &self,
        conn: &mut Conn,
        (old, new): (&Dek, &Dek),
        generation: i64,
    ) -> Result<(), VaultError> {
        let Some(cluster) = self.sharing.cluster() else {
            return Ok(());
        };
        let now = self.now();
        delete_old(conn, now).await?;
        let row = VaultShareRow {
            id: handed_over_as(old.id().as_str(), new.id().as_str()),
            dek_id: new.id().to_string(),
            generation,
            request: None,
            answer: Some(cluster.hand_over(&*self.random, old, new)?),
            created_at: now,
        };
        Ok(conn.update_vault_share(&row).await?)
    }

    /// Replaces the key in memory after a rotation on another node. On failure, the caller drops the old key, and
    /// the next round requests the new one. The caller must hold the gate exclusively.
    pub(crate) async fn follow_rotation(
        &self,
        seen: &Seen,
        record: Option<&VaultRecord>,
    ) -> Result<(), StoreError> {
        let (Some(cluster), Some(record), Some(old)) = (self.sharing.cluster(), record, self.dek())
        else {
            return Ok(());
        };
        if seen.disabled || old.id().as_str() == record.dek_id {
            return Ok(());
        }
        let id = handed_over_as(old.id().as_str(), &record.dek_id);
        let read = self
            .store
            .read(move |conn| Box::pin(async move { conn.find_vault_share(&id).await }));
        let row: Result<Option<VaultShareRow>, StoreError> = read.await;
        let Some(text) = row?.and_then(|row| row.answer) else {
            return Ok(());
        };
        match cluster.take_over(&old, &record.dek_id, &text) {
            Ok(dek) if is_key_of(record, &dek) => {
                if self.hold(&Arc::new(dek), seen.generation).is_ok() {
                    tracing::info!("the vault's key was rotated by another node");
                }
            }
            _ => self.sharing.warn("the key of a rotation is not authentic"),
        }
        Ok(())
    }
}

/// Returns the ID of a row. A node that missed an earlier rotation does not find the row.
fn handed_over_as(old: &str, new: &str) -> String {
    format!("rotation:{old}:{new}")
}
