//! The directory for backups: whether it exists, and whether its disk is mounted. A directory outside the data
//! directory is never created. If the disk is missing, a backup in its mount point would be lost with the machine.

use super::reasons;
use crate::Services;
use crate::doctor::check::Check;
use gatehouse_backup::folder::{self, Entry};
use gatehouse_config::Layers;
use gatehouse_store::StoreError;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::JoinError;

/// The key of the stored state in the table of settings.
pub const KEY: &str = "backup_place";
/// How long the file system may take to answer a check of `doctor`.
const LONGEST_READ: Duration = Duration::from_secs(5);
/// How long the file system may take to answer for a backup or a list. A disk may have to start.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Why no backup is written to the directory.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    #[error("the directory of backup.to does not exist: mount its disk, or create the directory")]
    Missing,
    #[error(
        "the directory of backup.to was a mount point at the last backup; it no longer is, and it contains no \
         backups: mount its disk, or use `gatehouse backup create --to` for the first backup there"
    )]
    NotMounted,
    #[error(
        "the directory of backup.to does not respond: check the disk or the server that it is on"
    )]
    NoAnswer,
    #[error("the directory of backup.to cannot be read")]
    Io(#[from] io::Error),
}

/// The stored state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// The directory of the last backup, if it was a mount point.
    mount_point: Option<String>,
}

/// The directory for backups, and its last known state.
#[derive(Clone, Debug)]
pub struct BackupDirectory {
    pub directory: PathBuf,
    data_dir: PathBuf,
    state: State,
}

/// A directory to which backups can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectoryFacts {
    is_mount_point: bool,
    /// Whether the directory is on the file system of the data directory.
    is_with_data: bool,
}

impl BackupDirectory {
    /// Creates the directory's description. `stored` is the value of [`KEY`]. An unreadable value counts as none.
    pub(super) fn new(directory: PathBuf, layers: &Layers, stored: Option<Value>) -> Self {
        let state = stored.and_then(|value| serde_json::from_value(value).ok());
        Self {
            directory,
            data_dir: layers.data_dir().to_path_buf(),
            state: state.unwrap_or_default(),
        }
    }

    /// Examines the directory. Blocks the thread. Does not recognize a mount of a directory of the same file
    /// system.
    pub fn check(&self) -> Result<DirectoryFacts, PlaceError> {
        let was_mount_point = self.state == mounted(&self.directory);
        let directory = match self.directory.metadata() {
            Ok(directory) => directory,
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            Err(_) if was_mount_point || !self.is_below_data() => return Err(PlaceError::Missing),
            // The backup creates the directory.
            Err(_) => {
                return Ok(DirectoryFacts {
                    is_mount_point: false,
                    is_with_data: true,
                });
            }
        };
        // For a symbolic link, this is the directory that contains its target.
        let above = self.directory.join("..").metadata()?;
        let is_mount_point = directory.dev() != above.dev();
        if was_mount_point && !is_mount_point && folder::list(&self.directory)?.is_empty() {
            return Err(PlaceError::NotMounted);
        }
        // A command that uses PostgreSQL needs no data directory.
        let data_dir = self.data_dir.metadata();
        Ok(DirectoryFacts {
            is_mount_point,
            is_with_data: data_dir.is_ok_and(|data_dir| data_dir.dev() == directory.dev()),
        })
    }

    /// Lists the backups in the directory after examining it. Without the examination, the list would be empty if
    /// the disk is missing. Blocks the thread.
    fn list(&self) -> Result<Vec<Entry>, PlaceError> {
        self.check()?;
        Ok(folder::list(&self.directory)?)
    }

    /// Returns whether the missing directory would be created in the data directory. A symbolic link in its path
    /// may lead out of the data directory.
    fn is_below_data(&self) -> bool {
        let Ok(data_dir) = self.data_dir.canonicalize() else {
            return descends(&self.data_dir, &self.directory);
        };
        // A link to a missing directory exists, but has no canonical path.
        let mut above = self.directory.ancestors();
        let existing = above.find(|path| path.symlink_metadata().is_ok());
        existing.is_some_and(|existing| {
            let real = existing.canonicalize();
            descends(existing, &self.directory)
                && real.is_ok_and(|real| real.starts_with(&data_dir))
        })
    }
}

/// Returns whether the path begins with `from` and does not lead upward after it.
fn descends(from: &Path, path: &Path) -> bool {
    let rest = path.strip_prefix(from);
    rest.is_ok_and(|rest| rest.components().all(|part| part != Component::ParentDir))
}

/// Returns the state after a backup to a mount point.
fn mounted(directory: &Path) -> State {
    State {
        mount_point: Some(directory.to_string_lossy().into_owned()),
    }
}

/// Examines the directory with `look`, without blocking the thread. Only one examination runs at a time, because
/// each one occupies a thread for blocking work if the file system does not respond, and there are few such
/// threads.
async fn examine<T: Send + 'static>(
    turn: &Arc<Mutex<()>>,
    place: BackupDirectory,
    look: fn(&BackupDirectory) -> Result<T, PlaceError>,
) -> Result<Result<T, PlaceError>, JoinError> {
    let turn = Arc::clone(turn).lock_owned().await;
    let check = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        look(&place)
    });
    check.await
}

/// Waits for an examination with a timeout.
async fn within<T>(
    limit: Duration,
    examination: impl Future<Output = Result<Result<T, PlaceError>, JoinError>>,
) -> Result<T, PlaceError> {
    match tokio::time::timeout(limit, examination).await {
        Ok(Ok(examined)) => examined,
        Ok(Err(failed)) => Err(PlaceError::Io(io::Error::other(failed))),
        Err(_) => Err(PlaceError::NoAnswer),
    }
}

impl Services {
    /// Waits for other examinations, then examines the directory with a timeout.
    pub(super) async fn examine_in_time(
        &self,
        place: &BackupDirectory,
    ) -> Result<DirectoryFacts, PlaceError> {
        within(LONGEST_WAIT, self.examine(place)).await
    }

    /// Waits for other examinations, then lists the backups in the directory with a timeout.
    pub(super) async fn list_in_time(
        &self,
        place: BackupDirectory,
    ) -> Result<Vec<Entry>, PlaceError> {
        self.list_within(LONGEST_WAIT, place).await
    }

    /// Lists the backups in the directory for `doctor`, newest first. Returns `None` if the directory cannot be read
    /// or does not answer.
    pub(crate) async fn list_for_check(&self) -> Option<Vec<Entry>> {
        // The check of the database reports an error.
        let place = self.backup_place().await.ok()?;
        self.list_within(LONGEST_READ, place).await.ok()
    }

    async fn list_within(
        &self,
        limit: Duration,
        place: BackupDirectory,
    ) -> Result<Vec<Entry>, PlaceError> {
        let list = examine(&self.backup_place_turn, place, BackupDirectory::list);
        within(limit, list).await
    }

    /// Waits for other examinations, then examines the directory.
    async fn examine(
        &self,
        place: &BackupDirectory,
    ) -> Result<Result<DirectoryFacts, PlaceError>, JoinError> {
        examine(
            &self.backup_place_turn,
            place.clone(),
            BackupDirectory::check,
        )
        .await
    }

    /// Returns the directory for backups without examining it.
    pub(super) async fn backup_place(&self) -> Result<BackupDirectory, StoreError> {
        let read = self
            .store
            .read(|conn| Box::pin(async move { conn.find_setting(KEY).await }));
        let stored: Result<_, StoreError> = read.await;
        let directory = self.backup_directory();
        // Nodes that share a database have separate directories.
        let stored = stored?.filter(|_| !self.store.engine().is_shared());
        Ok(BackupDirectory::new(
            directory,
            self.config.layers(),
            stored,
        ))
    }

    /// Stores whether the new backup is in a mount point, unless nodes share the database. A failure is only
    /// logged, because the backup is complete.
    pub(super) async fn note_place(&self, place: &BackupDirectory, found: DirectoryFacts) {
        let state = if found.is_mount_point {
            mounted(&place.directory)
        } else {
            State::default()
        };
        if self.store.engine().is_shared() || state == place.state {
            return;
        }
        let now = self.clock.now();
        let store = self.store.write(move |conn| {
            Box::pin(async move { conn.update_setting(KEY, &json!(state), now).await })
        });
        let stored: Result<_, StoreError> = store.await;
        if let Err(error) = stored {
            tracing::warn!(%error, "the directory of a backup could not be stored");
        }
    }
}

/// Adds problems with the directory to a check of scheduled backups that passed.
pub(super) async fn add_to(check: Check, services: &Services) -> Check {
    if !check.ok {
        return check;
    }
    // The check of the database reports an error.
    let Ok(place) = services.backup_place().await else {
        return check;
    };
    match tokio::time::timeout(LONGEST_READ, services.examine(&place)).await {
        Ok(Ok(examined)) => with_place(check, &examined),
        // The examination ended without a result.
        Ok(Err(_)) => check,
        Err(_) => Check::bad(
            "backup",
            "The directory of backup.to does not respond.",
            "Check the disk or the server that it is on.",
        )
        .of_this_node(),
    }
}

fn with_place(check: Check, examined: &Result<DirectoryFacts, PlaceError>) -> Check {
    match examined {
        Ok(found) if found.is_with_data => Check {
            message: format!(
                "{} Backups are on the file system of the data directory.",
                check.message
            ),
            hint: Some(
                "Set backup.to to a directory on another disk, or copy the backups to another machine."
                    .to_owned(),
            ),
            ..check
        },
        Err(error @ (PlaceError::Missing | PlaceError::NotMounted)) => Check::bad(
            "backup",
            format!("The next backup will fail: {}.", reasons(error)),
            "Check the directory of backup.to. No backup is written anywhere else.",
        )
        .of_this_node(),
        // The next backup reports an error.
        Ok(_) | Err(PlaceError::Io(_) | PlaceError::NoAnswer) => check,
    }
}

#[cfg(test)]
mod tests;
