//! Backups in a directory: their names, and the deletion of old ones. The functions block.

mod new_file;

use gatehouse_domain::Timestamp;
pub use new_file::NewFile;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

const PREFIX: &str = "gatehouse-";
/// The suffix of a file without encryption.
const PLAIN: &str = ".backup";
const ENCRYPTED: &str = ".backup.age";
/// The prefix of the names of incomplete files.
const PARTIAL_PREFIX: &str = ".gatehouse-";
const PARTIAL: &str = ".part";
/// The maximum number of backups in one second.
const MAX_NUMBER: u32 = 1000;
/// How long a partial file without a lock must be unchanged before it counts as abandoned by a killed process.
/// Processes of earlier versions write without a lock. On some network file systems, the locks of other machines
/// are not visible.
const QUIET: Duration = Duration::from_mins(1);
/// Like [`QUIET`], for files that cannot be locked: files on file systems without locks, and files of other users.
const QUIET_WITHOUT_LOCKS: Duration = Duration::from_hours(24);

/// A backup in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub path: PathBuf,
    /// The time in the name of the file, to the second.
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

/// Returns whether a name from [`file_name`] belongs to an encrypted backup.
pub fn is_encrypted(name: &str) -> bool {
    name.ends_with(ENCRYPTED)
}

/// Returns the name of the n-th backup of one second, such as `gatehouse-20260131T120000Z-2.backup`. Numbers begin
/// with 2.
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

/// Lists the backups in a directory, newest first. Ignores other files. Returns an empty list for a missing
/// directory.
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

/// Deletes the oldest backups in a directory. Keeps the newest `keep` backups and the new backup `made`. Returns
/// the deleted ones.
pub fn prune(directory: &Path, keep: usize, made: &Path) -> io::Result<Vec<Entry>> {
    let old = list(directory)?.into_iter().skip(keep);
    let old: Vec<Entry> = old.filter(|entry| entry.path != made).collect();
    for entry in &old {
        match fs::remove_file(&entry.path) {
            // Another node has already deleted the file.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(old)
}

#[cfg(test)]
mod tests;
