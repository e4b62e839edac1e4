//! Permissions and locks of the data directory and its files. These functions block. They run once, at startup.

use gatehouse_store::FileOwner;
use rustix::process::geteuid;
use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The file that a running Gatehouse locks.
pub const LOCK_FILE: &str = "gatehouse.lock";
/// The files that identify a data directory.
const OURS: [&str; 2] = [LOCK_FILE, DATABASE];
/// The default name of the database.
const DATABASE: &str = "gatehouse.db";

/// Why the data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// The directory cannot be created or read.
    #[error("cannot use the data directory {}", path.display())]
    Directory { path: PathBuf, source: io::Error },
    /// A file in the directory cannot be created or opened.
    #[error("cannot open {}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// Another process holds the lock.
    #[error("another Gatehouse is running on this data directory ({})", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// The SQLite database is missing or empty, but there are files of an earlier installation.
    #[error(
        "the database {} is missing or empty, but there are files of an earlier installation: {remains}. Nothing was \
         changed. If the database is elsewhere, set database.url or the data directory. To restore a backup, or to \
         start a new installation, move these files away first",
        path.display()
    )]
    LostDatabase { path: PathBuf, remains: String },
}

/// Creates the directory with mode 0700, or sets that mode on an existing Gatehouse directory.
pub fn prepare(path: &Path) -> Result<(), DataDirError> {
    let fail = |source| DataDirError::Directory {
        path: path.to_owned(),
        source,
    };
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(fail)?;
    let found = path.metadata().map_err(fail)?;
    let mode = found.permissions().mode() & 0o777;
    if !is_open_to_others(mode) {
        return Ok(());
    }
    // A directory that other programs also use is not changed.
    if found.uid() == geteuid().as_raw() && is_ours(path).map_err(fail)? {
        return std::fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(fail);
    }
    tracing::warn!(
        "other users can access the data directory (mode {mode:o}): run chmod 700 on it"
    );
    Ok(())
}

/// Returns whether the mode grants any access to the group or others.
pub const fn is_open_to_others(mode: u32) -> bool {
    mode & 0o077 != 0
}

fn is_ours(path: &Path) -> io::Result<bool> {
    if OURS.iter().any(|name| path.join(name).exists()) {
        return Ok(true);
    }
    Ok(path.read_dir()?.next().is_none())
}

/// Opens a file that only its owner may access, and creates it if it is missing. As root, the owner is the owner of the
/// directory. Removes the permissions of group and others from an existing file of this user, except as root in a
/// directory of another user.
pub fn open_private(path: &Path) -> Result<File, DataDirError> {
    let fail = |source| DataDirError::File {
        path: path.to_owned(),
        source,
    };
    let owner = FileOwner::of_parent(path);
    let mut options = OpenOptions::new();
    options.read(true).write(true).truncate(false).mode(0o600);
    let file = match options.clone().create_new(true).open(path) {
        Ok(file) => {
            // Only a new file gets this owner, because an existing file may be a link.
            owner.give(&file, path);
            return Ok(file);
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // A link without a target would be created at its target, which is refused if another
            // user placed the link.
            options.create(!owner.is_another_user()).open(path)
        }
        Err(error) => Err(error),
    };
    let file = file.map_err(fail)?;
    let found = file.metadata().map_err(fail)?;
    let is_own = !owner.is_another_user() && found.uid() == geteuid().as_raw();
    if is_own && is_open_to_others(found.permissions().mode()) {
        file.set_permissions(Permissions::from_mode(0o600))
            .map_err(fail)?;
    }
    Ok(file)
}

/// The locks of this process. Dropping them, or the end of the process, releases them.
#[derive(Debug)]
pub struct Locks {
    /// Open files that have the locks. They are never read.
    _files: Vec<File>,
}

impl Locks {
    /// Locks the data directory. Locks the database's lock file too if it is a different file. If that file is the lock
    /// file of another directory, locks this directory too.
    pub fn take(data_dir: &Path, database: &Path) -> Result<Self, DataDirError> {
        let data_dir = real(data_dir);
        let own = data_dir.join(LOCK_FILE);
        let database = real(database);
        let beside = lock_of(&database);
        let mut files = vec![lock(&own)?];
        files.extend(lock_directory(&data_dir, &own)?);
        if beside != own {
            files.push(lock(&beside)?);
            // Only a database with the default name locks its directory. Databases with other names can be in the same
            // directory.
            if let Some(directory) = database.parent()
                && beside == directory.join(LOCK_FILE)
            {
                files.extend(lock_directory(directory, &beside)?);
            }
        }
        Ok(Self { _files: files })
    }
}

/// Returns the lock file of a database. It depends only on the database, not on the data directory.
fn lock_of(database: &Path) -> PathBuf {
    if database.file_name().is_some_and(|name| name == DATABASE) {
        return database.with_file_name(LOCK_FILE);
    }
    let mut beside = database.as_os_str().to_owned();
    beside.push(".lock");
    beside.into()
}

/// Resolves symbolic links, so that each file has a single name. The file need not exist.
pub(crate) fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}

fn lock(path: &Path) -> Result<File, DataDirError> {
    let file = open_private(path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(DataDirError::Locked {
            path: path.to_owned(),
        }),
        Err(TryLockError::Error(source)) => Err(DataDirError::File {
            path: path.to_owned(),
            source,
        }),
    }
}

/// Locks the directory itself, because a deleted lock file no longer prevents a second server. Returns `None` if the
/// directory cannot be locked. On NFS, Linux locks a directory only for the processes of the same machine.
fn lock_directory(directory: &Path, lock_file: &Path) -> Result<Option<File>, DataDirError> {
    let locked = File::open(directory)
        .map_err(TryLockError::Error)
        .and_then(|file| file.try_lock().map(|()| file));
    match locked {
        Ok(file) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(DataDirError::Locked {
            path: lock_file.to_owned(),
        }),
        Err(TryLockError::Error(error)) => {
            // The file system does not support locks for directories.
            if error.kind() != io::ErrorKind::Unsupported {
                tracing::warn!(
                    %error,
                    directory = %directory.display(),
                    "the directory cannot be locked: do not delete its lock file while a server runs"
                );
            }
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests;
