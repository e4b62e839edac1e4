//! The vault's state in the database, and a combined view of database and memory.

use crate::settings::SecretsSettings;
use crate::{VaultError, record};
use gatehouse_domain::Timestamp;
use gatehouse_store::{Conn, StoreError};
use gatehouse_vault::{Dek, RecordState, Status, VaultRecord};
use serde_json::json;
use std::sync::Arc;

/// The setting that enables or disables the vault.
pub(crate) const VAULT_ENABLED: &str = "auth.vault_enabled";
/// The key of the counter of changes of the vault's record, password or flag by any node. It is not a setting: the
/// table `settings` also contains state.
const GENERATION: &str = "vault_generation";

/// The vault's state in the database, as read at the start of an operation. The operation writes a secret or changes
/// the vault only if the database still contains the same state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) record: RecordState,
    pub(crate) dek_id: Option<String>,
    pub(crate) disabled: bool,
    /// Distinguishes states that are otherwise equal, such as the states before a `disable` and after the next
    /// `enable`.
    pub(crate) generation: i64,
}

impl Seen {
    pub(crate) async fn read(
        conn: &mut Conn,
        settings: &SecretsSettings,
    ) -> Result<(Self, Option<VaultRecord>), StoreError> {
        let record = conn.find_vault().await?.map(record::record_of);
        let state = match &record {
            Some(_) => RecordState::Present,
            None if conn.count_encrypted().await? > 0 => RecordState::Lost,
            None => RecordState::Absent,
        };
        let enabled = if settings.vault_enabled_fixed {
            settings.vault_enabled
        } else {
            let stored = conn.find_setting(VAULT_ENABLED).await?;
            stored
                .and_then(|value| value.as_bool())
                .unwrap_or(settings.vault_enabled)
        };
        let seen = Self {
            record: state,
            dek_id: record.as_ref().map(|record| record.dek_id.clone()),
            disabled: !enabled,
            generation: generation(conn).await?,
        };
        Ok((seen, record))
    }
}

async fn generation(conn: &mut Conn) -> Result<i64, StoreError> {
    let stored = conn.find_setting(GENERATION).await?;
    Ok(stored.and_then(|value| value.as_i64()).unwrap_or(0))
}

/// Increments the generation in the transaction that changes the vault, and notifies the other
/// nodes. Returns the new generation.
pub(crate) async fn advance(conn: &mut Conn, now: Timestamp) -> Result<i64, StoreError> {
    let next = generation(conn).await?.wrapping_add(1);
    conn.update_setting(GENERATION, &json!(next), now).await?;
    conn.insert_change("vault", now).await?;
    Ok(next)
}

/// A consistent view of memory and database.
pub(crate) struct View {
    pub(crate) seen: Seen,
    pub(crate) record: Option<VaultRecord>,
    pub(crate) status: Status,
    pub(crate) dek: Option<Arc<Dek>>,
    pub(crate) spare: Option<Arc<Dek>>,
}

impl View {
    /// Returns the record, or the reason why there is none.
    pub(crate) fn record(&self) -> Result<&VaultRecord, VaultError> {
        self.record.as_ref().ok_or(match self.seen.record {
            RecordState::Lost => VaultError::RecordLost,
            RecordState::Absent | RecordState::Present => VaultError::NoRecord,
        })
    }

    pub(crate) fn enabled_record(&self) -> Result<&VaultRecord, VaultError> {
        if self.seen.disabled {
            return Err(VaultError::Disabled);
        }
        self.record()
    }

    /// Checks that no record exists and that one may be created.
    pub(crate) fn require_absent(&self) -> Result<(), VaultError> {
        match (self.seen.disabled, self.seen.record) {
            (_, RecordState::Present) => Err(VaultError::RecordExists),
            (_, RecordState::Lost) => Err(VaultError::RecordLost),
            (true, RecordState::Absent) => Err(VaultError::Disabled),
            (false, RecordState::Absent) => Ok(()),
        }
    }
}
