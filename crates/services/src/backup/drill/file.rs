//! The check of an encrypted backup without its key. Only the file is read.

use super::last::Extent;
use super::state::{OwnBackup, State};
use super::{DrillError, KEY};
use crate::Services;
use crate::backup::name_of;
use gatehouse_backup::folder::Entry;
use gatehouse_backup::{BackupError, FileCheck, check_file};
use gatehouse_store::StoreError;
use serde_json::json;

/// Returns why a backup was not restored, and which check was done instead. Used in the audit log and the log.
pub(super) const fn reason(extent: Extent, had_key: bool) -> &'static str {
    match extent {
        _ if had_key => {
            "it was decrypted, and every checksum in it matches; it was not restored, because the database is not on \
             the disk of the data directory"
        }
        Extent::Unchanged => {
            "it is encrypted to a key that this server does not have; its file is unchanged"
        }
        Extent::Header | Extent::Restored => {
            "it is encrypted to a key that this server does not have; only the header of its file was read"
        }
    }
}

impl Services {
    /// Checks the file of an encrypted backup. Compares its checksum if it is the last backup that this
    /// installation created.
    pub(super) async fn check_file(&self, backup: &Entry) -> Result<Extent, DrillError> {
        let failed = |error: &dyn std::error::Error| DrillError::NotMade(error.to_string());
        let state = self.drill_state().await.map_err(|error| failed(&error))?;
        let name = name_of(&backup.path);
        let made = state.made.filter(|made| made.name == name);
        let (path, sum) = (backup.path.clone(), made.map(|made| made.sha256));
        let check = tokio::task::spawn_blocking(move || check_file(&path, sum.as_deref()));
        match check.await.map_err(|error| failed(&error))? {
            Ok(FileCheck::Unchanged) => Ok(Extent::Unchanged),
            Ok(FileCheck::Header) => Ok(Extent::Header),
            Err(BackupError::Io(error)) => {
                let why = format!("its file cannot be read: {error}");
                Err(DrillError::NotMade(why))
            }
            Err(error) => Err(DrillError::Unusable(error.to_string())),
        }
    }

    /// Stores the checksum of an encrypted backup for a later check. A failure is only logged, because the backup
    /// is complete.
    pub(in crate::backup) async fn note_checksum(&self, name: String, sha256: String) {
        let now = self.clock.now();
        let made = OwnBackup { name, sha256 };
        let store = self.store.write(move |conn| {
            Box::pin(async move {
                let mut state = State::read(conn.find_setting(KEY).await?);
                state.made = Some(made);
                conn.update_setting(KEY, &json!(state), now).await
            })
        });
        let stored: Result<_, StoreError> = store.await;
        if let Err(error) = stored {
            tracing::warn!(%error, "the checksum of a backup could not be stored");
        }
    }
}
