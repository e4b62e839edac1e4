//! What anybody from elsewhere changed while auth was disabled, and what becomes of it when the owner
//! completes setup.

use crate::audit::kinds;
use crate::state::AuthInner;
use gatehouse_domain::{Actor, Random, Timestamp};
use gatehouse_store::{AuditEntry, Conn, StoreError};
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};

/// Keys of settings that a transaction put back, for the answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reverted(Arc<Mutex<Vec<String>>>);

impl Reverted {
    /// Puts the settings back that a remote caller changed, in the transaction that completes setup.
    pub(crate) async fn revert(
        &self,
        conn: &mut Conn,
        actor: &Actor,
        now: Timestamp,
        random: &dyn Random,
    ) -> Result<(), StoreError> {
        let keys = conn.restore_settings_before_setup(now).await?;
        if keys.is_empty() {
            return Ok(());
        }
        let entry = AuditEntry {
            kind: kinds::SETTINGS_REVERTED,
            actor,
            detail: json!({ "keys": keys }),
        };
        conn.append_audit(&entry, now, random).await?;
        conn.insert_change("settings", now).await?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = keys;
        Ok(())
    }

    /// Their keys, once the transaction is committed.
    pub(crate) fn keys(&self) -> Vec<String> {
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut keys)
    }
}

impl AuthInner {
    /// Has the settings read again: the table was changed by this room itself.
    pub(crate) fn settings_reverted(&self) {
        self.settings_changed
            .send_modify(|count| *count = count.wrapping_add(1));
    }
}
