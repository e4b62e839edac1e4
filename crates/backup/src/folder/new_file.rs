//! A backup that is being written. It gets its final name when it is complete.

use super::{MAX_NUMBER, PARTIAL, PARTIAL_PREFIX, QUIET, QUIET_WITHOUT_LOCKS, numbered};
use crate::file_lock::try_lock;
use gatehouse_store::FileOwner;
use std::fs::{File, TryLockError};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};
use tempfile::NamedTempFile;

/// A partial file in the directory of its final path. Only its owner can read it. It is locked while its process
/// runs. Dropping this value deletes the file.
#[derive(Debug)]
pub struct NewFile {
    pub(super) file: NamedTempFile,
    path: PathBuf,
    /// Whether a number is added to the name if the name is taken.
    is_numbered: bool,
}

impl NewFile {
    /// Creates the file, and its directory if it is missing. Fails if `path` exists. Deletes partial files that
    /// killed processes left in the directory.
    pub fn create(path: &Path) -> io::Result<Self> {
        let directory = prepared_directory_of(path)?;
        if path.exists() {
            let kind = io::ErrorKind::AlreadyExists;
            return Err(io::Error::new(kind, "a file with this name already exists"));
        }
        Self::begin(directory, path, false)
    }

    /// Like [`Self::create`], for a name from [`super::file_name`]. If the name is taken, the file gets a number.
    pub fn create_numbered(path: &Path) -> io::Result<Self> {
        Self::begin(prepared_directory_of(path)?, path, true)
    }

    /// Creates the file with [`Self::create`] or [`Self::create_numbered`]. Changes the owner of the file and of
    /// new directories.
    pub fn create_for(
        owner: FileOwner,
        path: &Path,
        create: fn(&Path) -> io::Result<Self>,
    ) -> io::Result<Self> {
        owner.create_directory(directory_of(path))?;
        let new = create(path)?;
        owner.give(new.file.as_file(), new.file.path());
        Ok(new)
    }

    fn begin(directory: &Path, path: &Path, is_numbered: bool) -> io::Result<Self> {
        delete_partial(directory)?;
        let file = tempfile::Builder::new()
            .prefix(PARTIAL_PREFIX)
            .suffix(PARTIAL)
            .tempfile_in(directory)?;
        // Without a lock, other processes consider the file abandoned after a longer time.
        if let Err(TryLockError::Error(error)) = try_lock(file.as_file()) {
            tracing::warn!(%error, "a backup is written without a file lock");
        }
        Ok(Self {
            file,
            path: path.to_owned(),
            is_numbered,
        })
    }

    /// Makes the file durable under its final name, and returns its path. Fails if the name has been taken in the
    /// meantime and the file cannot get a number.
    pub fn keep(self) -> io::Result<PathBuf> {
        self.file.as_file().sync_all()?;
        let (mut file, mut path) = (self.file, self.path.clone());
        for number in 2.. {
            let Err(refused) = file.persist_noclobber(&path) else {
                break;
            };
            let is_taken = refused.error.kind() == io::ErrorKind::AlreadyExists;
            if !(is_taken && self.is_numbered && number <= MAX_NUMBER) {
                return Err(refused.error);
            }
            file = refused.file;
            path = numbered(&self.path, number);
        }
        File::open(directory_of(&path))?.sync_all()?;
        Ok(path)
    }
}

/// Creates the directory if it is missing.
fn prepared_directory_of(path: &Path) -> io::Result<&Path> {
    let directory = directory_of(path);
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    Ok(directory)
}

fn directory_of(path: &Path) -> &Path {
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty());
    directory.unwrap_or(Path::new("."))
}

/// Deletes the partial files of processes that are gone.
fn delete_partial(directory: &Path) -> io::Result<()> {
    for entry in directory.read_dir()? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_partial = name.starts_with(PARTIAL_PREFIX) && name.ends_with(PARTIAL);
        // A file that cannot be examined or deleted, for example because it no longer exists, does not prevent a
        // backup.
        if is_partial && is_abandoned(&entry.path()).unwrap_or(false) {
            drop(fs::remove_file(entry.path()));
        }
    }
    Ok(())
}

/// Returns whether no process is writing this partial file.
fn is_abandoned(path: &Path) -> io::Result<bool> {
    // Some network file systems lock only files that are open for writing.
    let file = match File::options().write(true).open(path) {
        // The file belongs to another user, for example an administrator.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Ok(quiet_for(&path.symlink_metadata()?)? > QUIET_WITHOUT_LOCKS);
        }
        opened => opened?,
    };
    let quiet = quiet_for(&file.metadata()?)?;
    // A new file may not be locked yet.
    if quiet <= QUIET {
        return Ok(false);
    }
    Ok(match try_lock(&file) {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => quiet > QUIET_WITHOUT_LOCKS,
    })
}

/// Returns the time since the last change. A change in the future counts as now.
fn quiet_for(found: &fs::Metadata) -> io::Result<Duration> {
    Ok(found.modified()?.elapsed().unwrap_or_default())
}

impl Write for &NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file().flush()
    }
}
