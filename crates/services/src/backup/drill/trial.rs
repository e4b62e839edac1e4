//! The check of a backup whose content the server can read: a restore, or only a read.

use super::DrillError;
use super::last::Extent;
use crate::Services;
use crate::binary_size::binary_size;
use futures_util::future::BoxFuture;
use gatehouse_backup::age::FileKey;
use gatehouse_backup::folder::Entry;
use gatehouse_config::DatabaseUrl;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

/// The maximum ratio of the size of a restored database to its compressed backup, approximately.
const EXPANSION: u64 = 12;
/// Disk space in bytes that must remain free beside the restored database.
const SPARE_BYTES: u64 = 512 * 1024 * 1024;

/// A backup to verify.
#[derive(Debug)]
pub struct Trial {
    pub backup: PathBuf,
    /// The key of the file, if it is encrypted.
    pub key: Option<FileKey>,
    /// Whether to read the backup and compare its checksums, without writing anything.
    pub reads_only: bool,
}

impl Trial {
    /// Creates the trial restore of an unencrypted backup.
    pub fn of(backup: PathBuf) -> Self {
        Self {
            backup,
            key: None,
            reads_only: false,
        }
    }
}

/// Restores a backup in a temporary directory below the data directory and checks it, or reads it without a restore.
pub type VerifyBackup =
    Arc<dyn Fn(Trial) -> BoxFuture<'static, Result<(), DrillError>> + Send + Sync>;

impl Services {
    /// Restores a backup for a check, or only reads it.
    pub(super) async fn try_backup(
        &self,
        backup: &Entry,
        key: Option<FileKey>,
        extent: Extent,
        verify: &VerifyBackup,
    ) -> Result<(), DrillError> {
        let reads_only = extent != Extent::Restored;
        if !reads_only {
            let room = self.room_for(backup).await;
            room.map_err(DrillError::NotMade)?;
        }
        let trial = Trial {
            backup: backup.path.clone(),
            key,
            reads_only,
        };
        let verified = verify(trial).await;
        // A newer backup may have replaced this one, because of `backup.keep`.
        let is_there = tokio::fs::try_exists(&backup.path).await;
        match verified {
            Err(DrillError::Unusable(_)) if matches!(is_there, Ok(false)) => {
                let why = "it was deleted during the check".to_owned();
                Err(DrillError::NotMade(why))
            }
            verified => verified,
        }
    }

    /// Returns whether the database is a file on the file system of the data directory. If it is not, a restore
    /// would write its content to a disk that may be less protected.
    pub(super) async fn has_database_on_data_disk(&self) -> bool {
        let resolved = self.config.resolved();
        let DatabaseUrl::Sqlite { path } = &resolved.settings.database.url else {
            return false;
        };
        let data_dir = self.config.layers().data_dir();
        let (database, data_dir) = (data_dir.join(path), data_dir.to_path_buf());
        let read = tokio::task::spawn_blocking(move || {
            let is_same = database.metadata()?.dev() == data_dir.metadata()?.dev();
            Ok::<_, io::Error>(is_same)
        });
        matches!(read.await, Ok(Ok(true)))
    }

    /// Returns an error unless the disk has enough space for the restored database.
    async fn room_for(&self, backup: &Entry) -> Result<(), String> {
        let needed = backup
            .bytes
            .saturating_mul(EXPANSION)
            .saturating_add(SPARE_BYTES);
        let path = self.config.layers().data_dir().to_path_buf();
        let read = tokio::task::spawn_blocking(move || {
            let found = rustix::fs::statvfs(&path).map_err(io::Error::from)?;
            Ok::<_, io::Error>(found.f_bavail.saturating_mul(found.f_frsize))
        });
        match read.await {
            Ok(Ok(free)) if free >= needed => Ok(()),
            Ok(Ok(free)) => Err(format!(
                "its trial restore may need {}, and only {} are free in the data directory",
                binary_size(needed),
                binary_size(free)
            )),
            Ok(Err(_)) | Err(_) => {
                Err("the free space of the data directory cannot be read".to_owned())
            }
        }
    }
}
