//! Backups in a directory: their names, and which of them are deleted. These functions block.

use gatehouse_domain::Timestamp;
use std::fs::{self, File};
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
/// A partial file of this age was left by a process that was killed.
const PARTIAL_AGE: Duration = Duration::from_hours(24);

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

/// Whether a name from [`file_name`] is that of an encrypted backup.
pub fn is_encrypted(name: &str) -> bool {
    name.ends_with(ENCRYPTED)
}

/// The time of a name from [`file_name`]; `None` for other names.
fn time_of(name: &str) -> Option<Timestamp> {
    let rest = name.strip_prefix(PREFIX)?;
    let compact = rest
        .strip_suffix(ENCRYPTED)
        .or_else(|| rest.strip_suffix(PLAIN))?;
    compact.parse().ok()
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
        let Some((name, created_at)) = name.to_str().and_then(|n| Some((n, time_of(n)?))) else {
            continue;
        };
        found.push(Entry {
            path: entry.path(),
            created_at,
            bytes: entry.metadata()?.len(),
            is_encrypted: is_encrypted(name),
        });
    }
    found.sort_by(|a, b| b.created_at.cmp(&a.created_at).then(b.path.cmp(&a.path)));
    Ok(found)
}

/// Deletes all backups in a directory but the newest `keep`, and never the one that was just made. Returns the
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

/// A file that is being written beside its final name, for its owner only. Dropping it deletes it.
#[derive(Debug)]
pub struct NewFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl NewFile {
    /// Creates the file, and its directory if it is missing. Fails if `path` exists. Deletes files that a process
    /// left in the directory when it was killed.
    pub fn create(path: &Path) -> io::Result<Self> {
        let directory = directory_of(path);
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)?;
        if path.exists() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        delete_partial(directory)?;
        let file = tempfile::Builder::new()
            .prefix(PARTIAL_PREFIX)
            .suffix(PARTIAL)
            .tempfile_in(directory)?;
        Ok(Self {
            file,
            path: path.to_owned(),
        })
    }

    /// Makes the file durable under its name. Fails if the name exists by now.
    pub fn keep(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist_noclobber(&self.path)?;
        File::open(directory_of(&self.path))?.sync_all()
    }
}

fn directory_of(path: &Path) -> &Path {
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty());
    directory.unwrap_or(Path::new("."))
}

/// Deletes partial files that are older than [`PARTIAL_AGE`].
fn delete_partial(directory: &Path) -> io::Result<()> {
    for entry in directory.read_dir()? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let age = entry.metadata().and_then(|found| found.modified());
        let age = age.ok().and_then(|modified| modified.elapsed().ok());
        if name.starts_with(PARTIAL_PREFIX)
            && name.ends_with(PARTIAL)
            && age.is_some_and(|age| age > PARTIAL_AGE)
        {
            drop(fs::remove_file(entry.path()));
        }
    }
    Ok(())
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
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_name_gives_the_time_back() {
        let moment = at("2026-01-31T12:00:07.891Z");
        let name = file_name(moment, true);
        assert_eq!(name, "gatehouse-20260131T120007Z.backup.age");
        assert_eq!(time_of(&name), Some(at("2026-01-31T12:00:07Z")));
        for other in [
            "gatehouse-x.backup",
            "x.backup",
            "gatehouse-20260131T120007Z.tar",
        ] {
            assert_eq!(time_of(other), None, "{other}");
        }
    }

    #[test]
    fn the_oldest_are_deleted_and_other_files_are_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let days = ["01", "02", "03"].map(|day| at(&format!("2026-01-{day}T00:00:00Z")));
        for day in days {
            NewFile::create(&path(&file_name(day, false)))
                .unwrap()
                .keep()
                .unwrap();
        }
        File::create(path("notes.backup")).unwrap();
        drop(NewFile::create(&path("gatehouse-20260109T000000Z.backup")).unwrap());
        let newest = path(&file_name(days[2], false));
        assert_eq!(prune(directory.path(), 3, &newest).unwrap().len(), 0);
        let deleted = prune(directory.path(), 2, &newest).unwrap();
        assert_eq!(deleted.len(), 1);
        assert_eq!(deleted[0].created_at, days[0]);
        let left = list(directory.path()).unwrap();
        assert_eq!(left.len(), 2);
        assert_eq!(left[0].created_at, days[2]);
        // If the clock was set back, the new backup is not the newest by name.
        let made = &left[1].path;
        assert_eq!(prune(directory.path(), 1, made).unwrap().len(), 0);
        assert!(path("notes.backup").exists());
        assert_eq!(list(&path("missing")).unwrap().len(), 0);
    }

    #[test]
    fn an_existing_file_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.backup");
        NewFile::create(&path).unwrap().keep().unwrap();
        let error = NewFile::create(&path).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        let other = directory.path().join("b.backup");
        let (one, two) = (NewFile::create(&other), NewFile::create(&other));
        one.unwrap().keep().unwrap();
        let error = two.unwrap().keep().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    }
}
