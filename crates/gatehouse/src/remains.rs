//! Detects files of an earlier installation in a data directory whose SQLite database is missing or empty. A server
//! must not start as a new installation in such a directory, because the first client that opens it would become its
//! owner.
//!
//! These files count, because only a server with a database writes them:
//!
//! - the database's `-wal` and `-shm`, unless they are empty. SQLite would delete the `-wal` file.
//! - every file whose name begins with `provider_keys.json`.
//! - `backups`, if it contains a backup.
//!
//! All other files can exist before the first start: settings, profiles, certificates, the lock file, `cli.key` for
//! another server, and files of a first start that failed before it opened the database. Caches are not evidence
//! either.

use crate::data_dir::{DataDirError, real};
use gatehouse_backup::folder;
use gatehouse_secrets::PROVIDER_FILES;
use gatehouse_services::backup::DIRECTORY;
use std::io;
use std::path::Path;

/// Fails if the database is missing or empty, and there are files of an earlier installation. Blocks.
pub(crate) fn ensure_none(data_dir: &Path, database: &Path) -> Result<(), DataDirError> {
    let is_missing = match database.metadata() {
        Ok(found) => found.len() == 0,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if !is_missing {
        return Ok(());
    }
    let found = find(data_dir, &real(database)).map_err(|source| DataDirError::Directory {
        path: data_dir.to_owned(),
        source,
    })?;
    if found.is_empty() {
        return Ok(());
    }
    Err(DataDirError::LostDatabase {
        path: database.to_owned(),
        remains: found.join(", "),
    })
}

fn find(data_dir: &Path, database: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for end in ["-wal", "-shm"] {
        let mut path = database.as_os_str().to_owned();
        path.push(end);
        let path = Path::new(&path);
        if path.metadata().is_ok_and(|found| found.len() > 0) {
            found.push(path.display().to_string());
        }
    }
    let mut keys = Vec::new();
    for entry in data_dir.read_dir()? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if PROVIDER_FILES.iter().any(|file| name.starts_with(file)) {
            keys.push(path.display().to_string());
        }
    }
    keys.sort();
    found.extend(keys);
    let backups = data_dir.join(DIRECTORY);
    if folder::list(&backups).is_ok_and(|backups| !backups.is_empty()) {
        found.push(backups.display().to_string());
    }
    Ok(found)
}
