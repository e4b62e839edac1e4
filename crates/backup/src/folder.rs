//! Backups in a directory: their names, and which of them are deleted. These functions block.

use gatehouse_domain::Timestamp;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const PREFIX: &str = "gatehouse-";
/// For a file without encryption.
const PLAIN: &str = ".backup";
const ENCRYPTED: &str = ".backup.age";
/// A file that is not complete.
const PARTIAL: &str = "part";

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

/// Deletes all backups in a directory but the newest `keep`. Returns the deleted ones.
pub fn prune(directory: &Path, keep: usize) -> io::Result<Vec<Entry>> {
    let old: Vec<Entry> = list(directory)?.into_iter().skip(keep).collect();
    for entry in &old {
        fs::remove_file(&entry.path)?;
    }
    Ok(old)
}

/// A backup that is being written beside its final name. Dropping it deletes it.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    partial: PathBuf,
    path: PathBuf,
    is_kept: bool,
}

impl NewFile {
    /// Creates the file for its owner only, and its directory if it is missing. Fails if `path` exists.
    pub fn create(path: &Path) -> io::Result<Self> {
        if let Some(directory) = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
        {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(directory)?;
        }
        if path.exists() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let mut partial = path.as_os_str().to_owned();
        partial.push(".");
        partial.push(PARTIAL);
        let partial = PathBuf::from(partial);
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&partial)?;
        Ok(Self {
            file,
            partial,
            path: path.to_owned(),
            is_kept: false,
        })
    }

    /// Makes the file durable under its name.
    pub fn keep(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.partial, &self.path)?;
        self.is_kept = true;
        let directory = self.path.parent().filter(|p| !p.as_os_str().is_empty());
        File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
    }
}

impl Write for &NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&self.file).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&self.file).flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_kept {
            drop(fs::remove_file(&self.partial));
        }
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
        assert_eq!(prune(directory.path(), 3).unwrap().len(), 0);
        let deleted = prune(directory.path(), 2).unwrap();
        assert_eq!(deleted.len(), 1);
        assert_eq!(deleted[0].created_at, days[0]);
        let left = list(directory.path()).unwrap();
        assert_eq!(left.len(), 2);
        assert_eq!(left[0].created_at, days[2]);
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
    }
}
