//! Reads and writes the files themselves.

use super::{ProviderFiles, TEMPORARY};
use gatehouse_store::{FileOwner, fault};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

impl ProviderFiles {
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    pub(super) fn exists(&self, name: &str) -> io::Result<bool> {
        self.path(name).try_exists()
    }

    pub(super) fn read(&self, name: &str) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        let mut file = match File::open(self.path(name)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let length = usize::try_from(file.metadata()?.len()).unwrap_or(0);
        let mut bytes = Zeroizing::new(Vec::with_capacity(length + 1));
        file.read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Writes a file atomically: writes a new file, syncs it and renames it over the old one.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.remove(TEMPORARY)?;
        fault::point();
        let path = self.path(TEMPORARY);
        let mut file = private_file(&path)?;
        FileOwner::of(&self.directory).give(&file, &path);
        file.write_all(bytes)?;
        file.sync_all()?;
        self.rename(TEMPORARY, name)
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fault::point();
        std::fs::rename(self.path(from), self.path(to))?;
        self.sync_directory()
    }

    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        if !self.exists(name)? {
            return Ok(());
        }
        fault::point();
        std::fs::remove_file(self.path(name))?;
        self.sync_directory()
    }

    /// Syncs the directory, so that a rename or removal survives a power failure.
    fn sync_directory(&self) -> io::Result<()> {
        if cfg!(unix) {
            File::open(&self.directory)?.sync_all()?;
        }
        Ok(())
    }
}

#[cfg(unix)]
fn private_file(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

#[cfg(not(unix))]
fn private_file(path: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).open(path)
}

#[cfg(unix)]
pub(super) fn close_to_others(path: &Path, name: &str) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if metadata.permissions().mode() & 0o077 != 0 {
        tracing::warn!("other users of this machine could read {name}; its mode was set to 0600");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn close_to_others(_: &Path, _: &str) -> io::Result<()> {
    Ok(())
}
