//! The cache files. Blocking: call from a blocking thread.

use super::index::Entry;
use gatehouse_domain::Random;
use gatehouse_secrets::StorableBytes;
use gatehouse_store::FileOwner;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::SystemTime;

/// File extensions of encrypted and of plain entries.
pub(super) const ENCRYPTED: &str = "enc";
pub(super) const PLAIN: &str = "plain";

/// The cache directory, accessible only to its owner.
#[derive(Debug)]
pub(super) struct Files {
    directory: PathBuf,
}

impl Files {
    pub(super) const fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Returns the entries with this extension, oldest first. Deletes all other cache files: partial writes, plain
    /// files if there is a vault, and encrypted files if there is none.
    pub(super) fn list(&self, wanted: &str) -> Vec<Entry> {
        let Ok(found) = fs::read_dir(&self.directory) else {
            return Vec::new();
        };
        let mut entries: Vec<(SystemTime, Entry)> = Vec::new();
        for file in found.flatten() {
            let path = file.path();
            let ending = path.extension().and_then(|ending| ending.to_str());
            let name = path.file_stem().and_then(|name| name.to_str());
            match (name, ending, file.metadata()) {
                (Some(name), Some(ending), Ok(about)) if ending == wanted => {
                    let entry = Entry {
                        name: name.to_owned(),
                        size: about.len(),
                    };
                    entries.push((about.modified().unwrap_or(SystemTime::UNIX_EPOCH), entry));
                }
                (_, Some(PLAIN | ENCRYPTED | "new"), _) => drop(fs::remove_file(&path)),
                _ => {}
            }
        }
        entries.sort_by_key(|(at, _)| *at);
        entries.into_iter().map(|(_, entry)| entry).collect()
    }

    pub(super) fn read(&self, name: &str, ending: &str) -> Option<StorableBytes> {
        let mut file = File::open(self.path(name, ending)).ok()?;
        if ending == ENCRYPTED {
            let mut text = String::new();
            file.read_to_string(&mut text).ok()?;
            return Some(StorableBytes::Encrypted(text));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        Some(StorableBytes::Plain(bytes))
    }

    /// Writes to a temporary file and renames it, so the file is complete or absent. Does not sync, because a lost file
    /// is synthesized again. Returns the size in bytes.
    pub(super) fn write(
        &self,
        name: &str,
        kept: &StorableBytes,
        random: &dyn Random,
    ) -> io::Result<u64> {
        let owner = FileOwner::of_parent(&self.directory);
        owner.create_directory(&self.directory)?;
        let bytes = match kept {
            StorableBytes::Plain(bytes) => bytes.as_slice(),
            StorableBytes::Encrypted(text) => text.as_bytes(),
        };
        let salt = u64::from_le_bytes(random.bytes());
        let beside = self.directory.join(format!("{salt:016x}.new"));
        let path = self.path(name, ending(kept));
        let written = write_new(owner, &beside, bytes).and_then(|()| fs::rename(&beside, path));
        if written.is_err() {
            drop(fs::remove_file(&beside));
        }
        written.map(|()| bytes.len() as u64)
    }

    pub(super) fn remove(&self, name: &str, ending: &str) {
        drop(fs::remove_file(self.path(name, ending)));
    }

    fn path(&self, name: &str, ending: &str) -> PathBuf {
        self.directory.join(format!("{name}.{ending}"))
    }
}

fn write_new(owner: FileOwner, path: &PathBuf, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    owner.give(&file, path);
    file.write_all(bytes)
}

const fn ending(kept: &StorableBytes) -> &'static str {
    match kept {
        StorableBytes::Plain(_) => PLAIN,
        StorableBytes::Encrypted(_) => ENCRYPTED,
    }
}
