//! Checks whether the files of a SQLite database are still the files that were opened. SQLite continues to use open
//! files that were deleted or renamed. Data that it writes to them is lost when the process ends, unless the files
//! are moved back or copied.

use crate::Store;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The device and the inode of a file.
type Identity = (u64, u64);

/// The files of an open database: the database and its write-ahead log.
#[derive(Debug)]
pub(crate) struct OpenFile {
    path: PathBuf,
    log: PathBuf,
    opened: Identity,
    /// The log when the database was opened. SQLite creates the log with the first read of a connection, and keeps
    /// it while a connection is open.
    opened_log: Option<Identity>,
    /// Set before the last connection is closed, which deletes the log.
    is_closed: AtomicBool,
    /// The result of the last check. Only changes of the result are logged.
    was_replaced: AtomicBool,
}

impl OpenFile {
    /// Returns the files that the readers have opened under these paths. `None` if there is no file, as for a
    /// database in memory.
    pub(crate) fn at(path: &Path, log: PathBuf) -> Option<Self> {
        Some(Self {
            path: path.to_path_buf(),
            opened: identity(&path.metadata().ok()?),
            opened_log: log.metadata().ok().map(|found| identity(&found)),
            log,
            is_closed: AtomicBool::new(false),
            was_replaced: AtomicBool::new(false),
        })
    }

    /// Ends the checks.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    /// Returns whether one of the paths leads to another file, or to none. Blocks for one `stat` call per path.
    pub(crate) fn is_replaced(&self) -> bool {
        self.compare(&self.path.metadata(), &self.log.metadata())
    }

    fn compare(&self, found: &io::Result<Metadata>, log: &io::Result<Metadata>) -> bool {
        let is_other_log = self.opened_log.is_some_and(|opened| is_other(opened, log));
        let is_replaced = is_other_log || is_other(self.opened, found);
        if self.is_closed.load(Ordering::Relaxed) {
            return false;
        }
        let was_replaced = self.was_replaced.swap(is_replaced, Ordering::Relaxed);
        if is_replaced && !was_replaced {
            tracing::error!(
                path = %self.path.display(),
                "the file of the database or its -wal file was deleted, moved or replaced: writes are refused until it \
                 is back; do not stop the server before you have run `gatehouse doctor`"
            );
        } else if was_replaced && !is_replaced {
            tracing::warn!("the file of the database is back: writes are accepted again");
        }
        is_replaced
    }
}

fn identity(found: &Metadata) -> Identity {
    (found.dev(), found.ino())
}

/// Returns whether a path no longer leads to a file. Returns `false` for an error that does not prove it, such as a
/// denied permission.
fn is_other(opened: Identity, found: &io::Result<Metadata>) -> bool {
    match found {
        Ok(found) => identity(found) != opened,
        Err(error) => matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        ),
    }
}

impl Store {
    /// Returns whether the file of a SQLite database, or its write-ahead log, was deleted, moved or replaced since
    /// it was opened. While this is true, every write fails with
    /// [`StoreError::FileReplaced`](crate::StoreError::FileReplaced). Always `false` on PostgreSQL, and after
    /// [`Self::close`].
    pub async fn file_is_replaced(&self) -> bool {
        let Some(file) = &self.file else {
            return false;
        };
        let found = tokio::fs::metadata(&file.path).await;
        let log = tokio::fs::metadata(&file.log).await;
        file.compare(&found, &log)
    }
}
