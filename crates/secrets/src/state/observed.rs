//! Compares the database state with memory, and applies transitions to memory.

use super::Inner;
use crate::VaultError;
use crate::owner_seal::UNKNOWN;
use crate::request_start::RequestStart;
use crate::seen::{Seen, View};
use gatehouse_store::{Conn, StoreError};
use gatehouse_vault::{Dek, RecordState, Status, VaultRecord};
use std::sync::Arc;

impl Inner {
    /// Returns the last observed database state, the status and the data key.
    pub(crate) fn known(&self) -> (Seen, Status, Option<Arc<Dek>>) {
        let memory = self.memory();
        (
            memory.seen.clone(),
            memory.keyring.status(),
            memory.keyring.dek(),
        )
    }

    pub(crate) async fn read_seen(&self) -> Result<(Seen, Option<VaultRecord>), StoreError> {
        let settings = self.settings.load_full();
        let read = self
            .store
            .read(move |conn| Box::pin(async move { Seen::read(conn, &settings).await }));
        read.await
    }

    /// Returns `Changed` unless the database still has the state that was read before. Called
    /// inside the writing transaction.
    pub(crate) async fn require_unchanged(
        &self,
        conn: &mut Conn,
        known: &Seen,
    ) -> Result<(), VaultError> {
        let settings = self.settings.load_full();
        let (seen, _) = Seen::read(conn, &settings).await?;
        if seen == *known {
            Ok(())
        } else {
            Err(VaultError::Changed)
        }
    }

    /// Returns a view of database and memory, after bringing memory up to date.
    pub(crate) async fn view(&self) -> Result<View, VaultError> {
        let shared = self.gate.read().await;
        let (seen, record) = self.read_seen().await?;
        if let Some(view) = self.view_if_known(&seen, record) {
            return Ok(view);
        }
        drop(shared);
        let _alone = self.gate.write().await;
        self.view_alone().await
    }

    /// Reads the vault for a transition that holds the gate. Returns `Changed` if the vault has changed.
    pub(crate) async fn view_unchanged(&self, before: &Seen) -> Result<View, VaultError> {
        let view = self.view_alone().await?;
        if view.seen == *before {
            Ok(view)
        } else {
            Err(VaultError::Changed)
        }
    }

    /// Reads the vault for a transition that already holds the gate.
    pub(crate) async fn view_alone(&self) -> Result<View, VaultError> {
        let (seen, record) = self.read_seen().await?;
        self.follow_rotation(&seen, record.as_ref()).await?;
        self.observe(seen.clone());
        self.view_if_known(&seen, record)
            .ok_or(VaultError::TaskAborted)
    }

    fn view_if_known(&self, seen: &Seen, record: Option<VaultRecord>) -> Option<View> {
        let memory = self.memory();
        (memory.seen == *seen).then(|| View {
            seen: seen.clone(),
            record,
            status: memory.keyring.status(),
            dek: memory.keyring.dek(),
            spare: memory.spare.clone(),
        })
    }

    /// Applies the state of the database. If the record has a different key, drops the key in memory.
    pub(crate) fn observe(&self, seen: Seen) {
        let status = {
            let mut memory = self.memory();
            let before = memory.keyring.status();
            let dek_id = seen.dek_id.as_deref();
            let status = memory.keyring.observed(seen.record, seen.disabled, dek_id);
            if (memory.spare.as_deref().map(|dek| dek.id().as_str())) != dek_id || !seen.disabled {
                memory.spare = None;
            }
            if before != status {
                tracing::info!(%before, %status, "the state of the vault changed in the database");
            }
            memory.seen = seen;
            status
        };
        self.publish(status);
    }

    /// Loads the key of a record that is in the database. The vault is then unsealed.
    pub(crate) fn hold(&self, dek: &Arc<Dek>, generation: i64) -> Result<Status, VaultError> {
        let status = {
            let mut memory = self.memory();
            memory.seen = Seen {
                record: RecordState::Present,
                dek_id: Some(dek.id().to_string()),
                disabled: false,
                generation,
            };
            memory.spare = None;
            memory.sealed_after = None;
            let id = dek.id().as_str();
            memory
                .keyring
                .observed(RecordState::Present, false, Some(id));
            memory
                .keyring
                .unsealed(Arc::clone(dek))
                .map_err(|_| VaultError::TaskAborted)?
        };
        self.publish(status);
        Ok(status)
    }

    /// Returns the number of unlocks on all nodes when an owner sealed this one; `None` if it was unsealed since
    /// then.
    pub(crate) fn sealed_after(&self) -> Option<i64> {
        self.memory().sealed_after
    }

    /// Sets the return value of [`Inner::sealed_after`].
    pub(crate) fn note_sealed_after(&self, unlocks: i64) {
        self.memory().sealed_after = Some(unlocks);
    }

    /// Drops the key. Requests that started earlier do not load it again.
    pub(crate) fn forget(&self, began: RequestStart) -> Result<Status, VaultError> {
        let status = {
            let mut memory = self.memory();
            memory.closed = memory.closed.max(Some(began));
            memory.sealed_after = Some(UNKNOWN);
            memory.keyring.sealed()
        };
        let status = status.map_err(|_| VaultError::TaskAborted)?;
        self.publish(status);
        Ok(status)
    }

    /// Records that the record was replaced. The data key is unchanged.
    pub(crate) fn rewrapped(&self, generation: i64) {
        self.memory().seen.generation = generation;
    }

    /// Applies a new value of the flag. `spare` is the record's key, if known.
    pub(crate) fn switched(
        &self,
        began: RequestStart,
        (enabled, generation): (bool, i64),
        spare: Option<Arc<Dek>>,
    ) -> Status {
        let status = {
            let mut memory = self.memory();
            if memory.seen.disabled == enabled {
                memory.closed = memory.closed.max(Some(began));
            }
            memory.seen.disabled = !enabled;
            memory.seen.generation = generation;
            let seen = memory.seen.clone();
            memory.spare = spare;
            memory
                .keyring
                .observed(seen.record, seen.disabled, seen.dek_id.as_deref())
        };
        self.publish(status);
        status
    }
}
