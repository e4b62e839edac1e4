//! Tracks whether an owner sealed a node after the last unlock. In this state, no node gives the data key to
//! another node. The state is stored in the database, because the node may restart, and in memory, because the
//! database may be unreachable when the owner seals.

use crate::VaultError;
use crate::state::Inner;
use gatehouse_domain::{Actor, Timestamp};
use gatehouse_store::{Conn, StoreError};
use serde_json::json;
use std::sync::Arc;

/// The subject in the change feed for shares of the data key, and for unlocks that nodes wait for.
pub(crate) const SUBJECT: &str = "vault_shares";
/// The key of the number of unlocks by a person on any node. It is not a setting: the table `settings` also
/// contains state.
const UNLOCKS: &str = "vault_unlocks";
/// The key of the number of unlocks at the last seal by an owner.
const SEALED_AFTER: &str = "vault_sealed_after";

/// A number of unlocks that no database can reach. With this value, only an unlock on this node ends the seal.
pub(crate) const UNKNOWN: i64 = i64::MAX;

/// The state of seals and unlocks in the database.
pub(crate) struct OwnerSeal {
    unlocks: i64,
    sealed_after: Option<i64>,
}

impl OwnerSeal {
    pub(crate) async fn read(conn: &mut Conn) -> Result<Self, StoreError> {
        let unlocks = conn.find_setting(UNLOCKS).await?;
        let sealed_after = conn.find_setting(SEALED_AFTER).await?;
        Ok(Self {
            unlocks: unlocks.and_then(|value| value.as_i64()).unwrap_or(0),
            sealed_after: sealed_after.and_then(|value| value.as_i64()),
        })
    }

    /// Returns whether a person has unlocked a node since the last seal. `own` is the number of unlocks when an
    /// owner sealed this node.
    pub(crate) fn is_over(&self, own: Option<i64>) -> bool {
        let before = |seal: i64| seal < self.unlocks;
        self.sealed_after.is_none_or(before) && own.is_none_or(before)
    }
}

impl Inner {
    /// Records that an owner sealed this node. Returns the number of unlocks so far.
    pub(crate) async fn note_owner_seal(&self, conn: &mut Conn) -> Result<i64, StoreError> {
        if !self.store.engine().is_shared() {
            return Ok(UNKNOWN);
        }
        let unlocks = OwnerSeal::read(conn).await?.unlocks;
        conn.update_setting(SEALED_AFTER, &json!(unlocks), self.now())
            .await?;
        Ok(unlocks)
    }

    /// Records a seal of this node that happened while the database did not respond.
    pub(crate) async fn record_owner_seal(self: &Arc<Self>) -> Result<(), VaultError> {
        // Prevents an unlock in between.
        let _alone = self.alone().await;
        if self.sealed_after() != Some(UNKNOWN) {
            return Ok(());
        }
        let job = Arc::clone(self);
        let write = self.store.write(move |conn| {
            Box::pin(async move { Ok::<_, VaultError>(job.note_owner_seal(conn).await?) })
        });
        self.note_sealed_after(write.await?);
        Ok(())
    }

    /// Counts an unlock in its transaction, and notifies nodes that waited for it. An automatic unseal does not
    /// count, because no person is involved.
    pub(crate) async fn note_unlock(
        &self,
        conn: &mut Conn,
        actor: &Actor,
    ) -> Result<(), StoreError> {
        if !self.store.engine().is_shared() || *actor == Actor::system() {
            return Ok(());
        }
        let now: Timestamp = self.now();
        let seal = OwnerSeal::read(conn).await?;
        let unlocks = seal.unlocks.wrapping_add(1);
        conn.update_setting(UNLOCKS, &json!(unlocks), now).await?;
        if seal.is_over(None) {
            return Ok(());
        }
        conn.insert_change(SUBJECT, now).await
    }
}
