//! Changes that remote callers made while auth was disabled, and their reversal when the owner
//! completes setup.

use crate::audit::kinds;
use crate::state::AuthInner;
use gatehouse_domain::{Actor, Random, Timestamp};
use gatehouse_store::{AuditEntry, Conn, StoreError};
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};

/// Keys of the settings that a transaction restored, for the response.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reverted(Arc<Mutex<Vec<String>>>);

impl Reverted {
    /// Restores the settings that a remote caller changed, in the transaction that completes setup.
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

    /// Takes the keys of the restored settings. Call it after the commit.
    pub(crate) fn keys(&self) -> Vec<String> {
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut keys)
    }
}

impl AuthInner {
    /// Triggers a reload of the settings after this crate changed the table.
    pub(crate) fn settings_reverted(&self) {
        self.settings_changed
            .send_modify(|count| *count = count.wrapping_add(1));
    }
}
