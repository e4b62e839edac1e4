//! Whether the file of a SQLite database is still the one that was opened. SQLite continues to use an open file that
//! was deleted or renamed. What it writes there is lost when the process ends, unless the file is moved back or copied.

use crate::Store;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The file of an open database.
#[derive(Debug)]
pub(crate) struct OpenFile {
    path: PathBuf,
    /// The device and the inode when it was opened.
    opened: (u64, u64),
    /// The last result. Only changes are logged.
    was_replaced: AtomicBool,
}

impl OpenFile {
    /// Returns the file that was opened under this path. `None` if there is none, as for a database in memory.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        let found = path.metadata().ok()?;
        Some(Self {
            path: path.to_path_buf(),
            opened: identity(&found),
            was_replaced: AtomicBool::new(false),
        })
    }

    /// Whether the path leads to another file, or to none. Blocks for one `stat`.
    pub(crate) fn is_replaced(&self) -> bool {
        self.compare(self.path.metadata())
    }

    fn compare(&self, found: io::Result<std::fs::Metadata>) -> bool {
        let is_replaced = match found {
            Ok(found) => identity(&found) != self.opened,
            Err(error) => matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ),
        };
        let was_replaced = self.was_replaced.swap(is_replaced, Ordering::Relaxed);
        if is_replaced && !was_replaced {
            tracing::error!(
                path = %self.path.display(),
                "the file of the database was deleted, moved or replaced: writes are refused until it is back; do not \
                 stop the server before you have run `gatehouse doctor`"
            );
        } else if was_replaced && !is_replaced {
            tracing::warn!("the file of the database is back: writes are accepted again");
        }
        is_replaced
    }
}

fn identity(found: &std::fs::Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

impl Store {
    /// Whether the file of a SQLite database was deleted, moved or replaced since it was opened. Every write fails with
    /// [`StoreError::FileReplaced`](crate::StoreError::FileReplaced) then, until the file is back. Always `false` on
    /// PostgreSQL.
    pub async fn file_is_replaced(&self) -> bool {
        match &self.file {
            Some(file) => file.compare(tokio::fs::metadata(&file.path).await),
            None => false,
        }
    }
}
