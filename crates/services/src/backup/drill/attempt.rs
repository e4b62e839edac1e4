//! One trial restore: chooses the backup, checks it and reports the result.

use super::{
    DRILLS, DrillError, KEY, SUCCEEDED, file,
    kept_key::KeyOf,
    last::{Extent, Last},
    state::State,
    trial::VerifyBackup,
};
use crate::Services;
use gatehouse_auth::audit::kinds;
use gatehouse_backup::{age::FileKey, folder::Entry};
use gatehouse_domain::{Actor, Timestamp};
use gatehouse_store::StoreError;
use metrics::counter;
use serde_json::json;

impl Services {
    /// Checks a backup as far as the server can. Reports the outcome in the log, the metrics and the audit log.
    pub(super) async fn check_backup(
        &self,
        backup: &Entry,
        key: Option<FileKey>,
        verify: &VerifyBackup,
        now: Timestamp,
    ) -> Last {
        let begun_ms = self.clock.monotonic_ms();
        let had_key = key.is_some();
        let extent = if backup.is_encrypted && !had_key {
            Extent::Header
        } else if had_key && !self.has_database_on_data_disk().await {
            Extent::Unchanged
        } else {
            Extent::Restored
        };
        let checked = if extent == Extent::Header {
            self.check_file(backup).await
        } else {
            let verified = self.try_backup(backup, key, extent, verify).await;
            verified.map(|()| extent)
        };
        let took_ms = self.clock.monotonic_ms().saturating_sub(begun_ms);
        let last = Last {
            at: now,
            name: crate::backup::name_of(&backup.path),
            took_ms,
            was_made: !matches!(checked, Err(DrillError::NotMade(_))),
            extent: *checked.as_ref().unwrap_or(&extent),
            had_key,
            error: checked.err().map(|error| error.to_string()),
        };
        self.report_drill(&last).await;
        last
    }

    /// Reports the outcome of a trial restore in the log, the metrics and the audit log.
    async fn report_drill(&self, last: &Last) {
        let name = &last.name;
        let (outcome, kind, detail) = match (&last.error, last.extent) {
            (None, Extent::Restored) => {
                tracing::info!(name, "the trial restore of a backup succeeded");
                let detail = json!({ "name": name, "took_ms": last.took_ms });
                ("ok", kinds::BACKUP_VERIFIED, detail)
            }
            (None, extent) => {
                let reason = file::reason(extent, last.had_key);
                tracing::info!(name, reason, "the trial restore of a backup did not run");
                let detail = json!({ "name": name, "error": reason });
                ("file_only", kinds::BACKUP_NOT_VERIFIED, detail)
            }
            (Some(reason), _) if last.was_made => {
                tracing::error!(name, reason, "the trial restore of a backup failed");
                let detail = json!({ "name": name, "error": reason });
                ("error", kinds::BACKUP_UNUSABLE, detail)
            }
            (Some(reason), _) => {
                tracing::error!(name, reason, "the trial restore of a backup did not run");
                let detail = json!({ "name": name, "error": reason });
                ("not_made", kinds::BACKUP_NOT_VERIFIED, detail)
            }
        };
        counter!(DRILLS, "outcome" => outcome).increment(1);
        self.auth.note_change(kind, Actor::system(), detail).await;
    }

    /// Stores the end of a trial restore.
    pub(super) async fn end_drill(&self, last: Last) -> Result<(), StoreError> {
        let now = last.at;
        let store = self.store.write(move |conn| {
            Box::pin(async move {
                let mut state = State::read(conn.find_setting(KEY).await?);
                state.end(last);
                conn.update_setting(KEY, &json!(state), now).await?;
                Ok::<_, StoreError>(state.succeeded)
            })
        });
        crate::backup::show_time(SUCCEEDED, store.await?);
        Ok(())
    }

    /// Returns the backup of the kept key, with the key. Without a kept key, returns the newest backup in the
    /// directory. Returns `None` if there is no backup, or if the directory cannot be read or does not answer.
    /// Older backups are not used, because their state would not apply to current backups.
    pub(super) async fn backup_to_check(
        &self,
        kept: Option<KeyOf>,
    ) -> Result<Option<(Entry, Option<FileKey>)>, StoreError> {
        let listed = self.list_in_time(self.backup_place().await?).await;
        let Ok(mut listed) = listed else {
            return Ok(None);
        };
        if let Some(KeyOf { name, key }) = kept
            && let Some(at) = listed
                .iter()
                .position(|it| crate::backup::name_of(&it.path) == name)
        {
            return Ok(Some((listed.swap_remove(at), Some(key))));
        }
        Ok(listed.into_iter().next().map(|newest| (newest, None)))
    }
}
