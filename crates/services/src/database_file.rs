//! Whether the file of a SQLite database is still the one that was opened. The server continues to use an open file
//! that was deleted or renamed. Everything that opens the path later uses another one: the next start, and backups.

use crate::Services;
use gatehouse_config::DatabaseUrl;
use gatehouse_domain::{ErrorCode, Problem};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The file of the open database.
#[derive(Debug)]
pub(crate) struct DatabaseFile {
    path: PathBuf,
    /// The device and the inode at the start.
    opened: (u64, u64),
}

impl DatabaseFile {
    /// Returns `None` for PostgreSQL, and if the file cannot be read.
    pub(crate) async fn of(url: &DatabaseUrl, data_dir: &Path) -> Option<Self> {
        let DatabaseUrl::Sqlite { path } = url else {
            return None;
        };
        let path = data_dir.join(path);
        let opened = identity(&path).await.ok()?;
        Some(Self { path, opened })
    }

    /// Whether the path leads to another file, or to none.
    async fn was_replaced(&self) -> bool {
        match identity(&self.path).await {
            Ok(found) => found != self.opened,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    }
}

async fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = tokio::fs::metadata(path).await?;
    Ok((found.dev(), found.ino()))
}

impl Services {
    /// Whether the file of the open database was deleted, renamed or replaced.
    pub(crate) async fn database_was_replaced(&self) -> bool {
        match &self.database_file {
            Some(file) => file.was_replaced().await,
            None => false,
        }
    }

    /// Refuses a backup that would read another database than the open one.
    pub(crate) async fn ensure_own_database(&self) -> Result<(), Problem> {
        if !self.database_was_replaced().await {
            return Ok(());
        }
        let message = "The backup failed: the file of the database was deleted, moved or replaced while the server \
                       uses it. The `database` check of `doctor` has the details.";
        Err(Problem::new(ErrorCode::StorageUnavailable, message))
    }
}
