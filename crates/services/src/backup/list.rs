//! Lists the backups of the directory.

use super::{
    CreatedBackup,
    drill::{CheckedBackup, Checks},
    reasons,
    stored::directory,
};
use crate::Services;
use gatehouse_backup::{
    Created,
    folder::{self, Entry},
};
use gatehouse_domain::{ErrorCode, Problem, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A backup in the directory for backups.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BackupInfo {
    /// The name of the file.
    pub name: String,
    pub created_at: Timestamp,
    /// Size of the file.
    pub bytes: u64,
    pub encrypted: bool,
    /// The result of its last check. Known for three backups: the one that was checked last, the last one whose
    /// content was read, and the last unusable one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<CheckedBackup>,
}

impl Services {
    /// Lists the backups in the directory for backups, newest first.
    pub async fn list_backups(&self) -> Result<Vec<BackupInfo>, Problem> {
        let place = self.backup_place().await?;
        let found = self.list_in_time(place).await.map_err(not_listed)?;
        let checks = self.backup_checks().await?;
        Ok(found.iter().map(|entry| info(entry, &checks)).collect())
    }

    pub(super) fn backup_directory(&self) -> PathBuf {
        let settings = &self.config.resolved().settings.backup;
        directory(self.config.layers(), settings)
    }
}

fn info(entry: &Entry, checks: &Checks) -> BackupInfo {
    let name = name_of(&entry.path);
    BackupInfo {
        created_at: entry.created_at,
        bytes: entry.bytes,
        encrypted: entry.is_encrypted,
        checked: checks.of(&name),
        name,
    }
}

pub(super) fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

pub(super) fn described(name: String, created: &Created, deleted: &[Entry]) -> CreatedBackup {
    CreatedBackup {
        backup: BackupInfo {
            encrypted: folder::is_encrypted(&name),
            name,
            created_at: created.manifest.created_at,
            bytes: created.bytes,
            checked: None,
        },
        rows: created.manifest.rows(),
        deleted: deleted.iter().map(|entry| name_of(&entry.path)).collect(),
    }
}

fn not_listed(error: impl std::error::Error) -> Problem {
    let message = format!("The backups cannot be listed: {}.", reasons(&error));
    Problem::new(ErrorCode::StorageUnavailable, message)
}
