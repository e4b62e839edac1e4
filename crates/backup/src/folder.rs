//! Backups in a directory: their names, and which of them are deleted. These functions block.

use crate::file_lock::try_lock;
use gatehouse_domain::Timestamp;
use gatehouse_store::FileOwner;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;

const PREFIX: &str = "gatehouse-";
/// For a file without encryption.
const PLAIN: &str = ".backup";
const ENCRYPTED: &str = ".backup.age";
/// Names of files that are not complete.
const PARTIAL_PREFIX: &str = ".gatehouse-";
const PARTIAL: &str = ".part";
/// The maximum number of backups in one second.
const MAX_NUMBER: u32 = 1000;
/// A partial file that has no lock and was not changed for this long was left by a process that was killed. Processes
/// of earlier versions, and of other machines on some network file systems, write without a visible lock.
const QUIET: Duration = Duration::from_mins(1);
/// Like [`QUIET`], for files that cannot be locked: those on file systems without locks, and those of other users.
const QUIET_WITHOUT_LOCKS: Duration = Duration::from_hours(24);

/// A backup in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub path: PathBuf,
    /// From the name of the file, to the second.
    pub created_at: Timestamp,
    pub bytes: u64,
    pub is_encrypted: bool,
}

/// Returns the name of a backup, such as `gatehouse-20260131T120000Z.backup.age`. Names sort by time.
pub fn file_name(created_at: Timestamp, is_encrypted: bool) -> String {
    let moment = created_at.to_string();
    let seconds = moment.split('.').next().unwrap_or(&moment);
    let compact: String = seconds
        .chars()
        .filter(|c| !matches!(c, '-' | ':'))
        .collect();
    let end = if is_encrypted { ENCRYPTED } else { PLAIN };
    format!("{PREFIX}{compact}Z{end}")
}

/// Whether a name from [`file_name`] belongs to an encrypted backup.
pub fn is_encrypted(name: &str) -> bool {
    name.ends_with(ENCRYPTED)
}

/// The name of the n-th backup of one second, beginning with 2, such as `gatehouse-20260131T120000Z-2.backup`.
fn numbered(path: &Path, number: u32) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (moment, end) = name.split_at(name.find(PLAIN).unwrap_or(name.len()));
    path.with_file_name(format!("{moment}-{number}{end}"))
}

/// Returns the time of a name from [`file_name`] and its number within that second; `None` for other names.
fn time_of(name: &str) -> Option<(Timestamp, u32)> {
    let rest = name.strip_prefix(PREFIX)?;
    let compact = rest
        .strip_suffix(ENCRYPTED)
        .or_else(|| rest.strip_suffix(PLAIN))?;
    let (moment, number) = match compact.rsplit_once('-') {
        Some((moment, number)) => (moment, number.parse().ok().filter(|number| *number > 1)?),
        None => (compact, 1),
    };
    Some((moment.parse().ok()?, number))
}

/// Lists the backups in a directory, newest first. Other files are not listed. A missing directory has none.
pub fn list(directory: &Path) -> io::Result<Vec<Entry>> {
    let entries = match directory.read_dir() {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let Some((name, moment)) = name.to_str().and_then(|n| Some((n, time_of(n)?))) else {
            continue;
        };
        let (created_at, _) = moment;
        let entry = Entry {
            path: entry.path(),
            created_at,
            bytes: entry.metadata()?.len(),
            is_encrypted: is_encrypted(name),
        };
        found.push((moment, entry));
    }
    found.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| other.path.cmp(&one.path)));
    Ok(found.into_iter().map(|(_, entry)| entry).collect())
}

/// Deletes the oldest backups in a directory, except the newest `keep` and the one that was just made. Returns the
/// deleted ones.
pub fn prune(directory: &Path, keep: usize, made: &Path) -> io::Result<Vec<Entry>> {
    let old = list(directory)?.into_iter().skip(keep);
    let old: Vec<Entry> = old.filter(|entry| entry.path != made).collect();
    for entry in &old {
        match fs::remove_file(&entry.path) {
            // Another node deleted it.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(old)
}

/// A file that is being written beside its final name, for its owner only. It is locked while its process lives.
/// Dropping it deletes it.
#[derive(Debug)]
pub struct NewFile {
    file: NamedTempFile,
    path: PathBuf,
    /// Whether it gets a number if its name is taken.
    is_numbered: bool,
}

impl NewFile {
    /// Creates the file, and its directory if it is missing. Fails if `path` exists. Deletes files that a process
    /// left in the directory when it was killed.
    pub fn create(path: &Path) -> io::Result<Self> {
        let directory = prepared_directory_of(path)?;
        if path.exists() {
            let kind = io::ErrorKind::AlreadyExists;
            return Err(io::Error::new(kind, "a file with this name already exists"));
        }
        Self::begin(directory, path, false)
    }

    /// Like [`Self::create`], for a name from [`file_name`]. If it exists, the file gets another one.
    pub fn create_numbered(path: &Path) -> io::Result<Self> {
        Self::begin(prepared_directory_of(path)?, path, true)
    }

    /// Creates the file with [`Self::create`] or [`Self::create_numbered`], and gives it and new directories to the
    /// owner.
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
        // Without locks, the file counts as abandoned later.
        if let Err(TryLockError::Error(error)) = try_lock(file.as_file()) {
            tracing::warn!(%error, "a backup is written without a file lock");
        }
        Ok(Self {
            file,
            path: path.to_owned(),
            is_numbered,
        })
    }

    /// Makes the file durable under its name, and returns its path. Fails if the name exists by now and cannot get a
    /// number.
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
        // A file that cannot be examined or deleted, for example because it is gone, does not prevent a backup.
        if is_partial && is_abandoned(&entry.path()).unwrap_or(false) {
            drop(fs::remove_file(entry.path()));
        }
    }
    Ok(())
}

/// Whether no process is writing this partial file.
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
    // The lock of a file that was just created may still be missing.
    if quiet <= QUIET {
        return Ok(false);
    }
    Ok(match try_lock(&file) {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => quiet > QUIET_WITHOUT_LOCKS,
    })
}

/// The time since the last change. A change in the future counts as now.
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

#[cfg(test)]
mod tests;
