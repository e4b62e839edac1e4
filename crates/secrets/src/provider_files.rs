//! The two files of provider keys: `provider_keys.json` (plaintext) and `provider_keys.json.enc` (encrypted). While
//! the plaintext file exists, it is authoritative, and the encrypted copy is created from it. All functions block,
//! so call them on a blocking thread.

mod disk;
mod error;
mod keys;
mod read;
mod set_aside;

use disk::close_to_others;
pub use error::FileError;
use gatehouse_domain::Random;
use gatehouse_vault::{Aad, Dek};
pub(crate) use keys::{ProviderKey, ProviderKeys};
use std::path::PathBuf;

const PLAIN: &str = "provider_keys.json";
const COPY: &str = "provider_keys.json.enc";
/// The copy that is encrypted with the next data key of the vault, during a rotation.
const NEXT: &str = "provider_keys.json.enc.next";
/// The file with the keys of the provider files, written when the keys were moved to rows; encrypted if there is a
/// vault. No server reads it. It is needed to return to the database from which the installation was moved. A later
/// move with other keys adds a number: `.moved.2`.
const MOVED_PLAIN: &str = "provider_keys.json.moved";
const MOVED_COPY: &str = "provider_keys.json.enc.moved";
const TEMPORARY: &str = "provider_keys.json.tmp";
/// The files that a backup of the data directory needs.
pub const PROVIDER_FILES: [&str; 3] = [PLAIN, COPY, NEXT];

/// The result of [`ProviderFiles::restore_plain`].
#[derive(Default)]
pub(crate) struct Restored {
    /// Whether the plaintext file was created.
    pub(crate) made: bool,
    /// How many keys the copy contained.
    pub(crate) keys: u64,
}

/// The directory with the files.
pub(crate) struct ProviderFiles {
    directory: PathBuf,
    turn: std::sync::Mutex<()>,
}

impl ProviderFiles {
    pub(crate) const fn new(directory: PathBuf) -> Self {
        Self {
            directory,
            turn: std::sync::Mutex::new(()),
        }
    }

    /// Serializes jobs that read, decide and write.
    pub(crate) fn turn(&self) -> std::sync::MutexGuard<'_, ()> {
        self.turn
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Removes an incomplete temporary file and makes the plaintext files private. Called at startup.
    pub(crate) fn sweep(&self) -> Result<(), FileError> {
        let _turn = self.turn();
        self.remove(TEMPORARY)?;
        close_to_others(&self.path(PLAIN), PLAIN)?;
        for name in self.names_of(MOVED_PLAIN)? {
            close_to_others(&self.path(&name), &name)?;
        }
        Ok(())
    }

    /// Loads the keys of the plaintext file. If it is missing, loads those of the copy. Returns `None` if both are
    /// missing.
    pub(crate) fn load(&self, dek: Option<&Dek>) -> Result<Option<ProviderKeys>, FileError> {
        if let Some(plain) = self.read_plain()? {
            return Ok(Some(plain));
        }
        match dek {
            Some(dek) => self.read_copy(dek),
            None => Ok(None),
        }
    }

    /// Returns whether only the encrypted copy contains the keys.
    pub(crate) fn is_closed(&self) -> Result<bool, FileError> {
        Ok(!self.exists(PLAIN)? && (self.exists(COPY)? || self.exists(NEXT)?))
    }

    pub(crate) fn write_plain(&self, keys: &ProviderKeys) -> Result<(), FileError> {
        Ok(self.write(PLAIN, &keys.to_json()?)?)
    }

    /// Writes the copy and verifies it by reading it back.
    pub(crate) fn write_copy(
        &self,
        dek: &Dek,
        random: &dyn Random,
        keys: &ProviderKeys,
    ) -> Result<(), FileError> {
        self.write_encrypted(COPY, dek, random, keys)?;
        if self.open((COPY, COPY), dek)?.as_ref() == Some(keys) {
            self.remove(NEXT)?;
            Ok(())
        } else {
            Err(FileError::Damaged(COPY))
        }
    }

    /// Updates the files after an unseal. Creates the copy if it is missing or differs from the plaintext file,
    /// promotes a copy left by a rotation, and removes the plaintext files unless they are to be kept.
    pub(crate) fn settle(
        &self,
        dek: &Dek,
        random: &dyn Random,
        keep_plain: bool,
    ) -> Result<(), FileError> {
        let _turn = self.turn();
        if !keep_plain {
            self.remove_all(MOVED_PLAIN)?;
        }
        let copy = self.read_copy(dek);
        let Some(plain) = self.read_plain()? else {
            return copy.map(drop);
        };
        if copy.ok().flatten().as_ref() != Some(&plain) {
            self.write_copy(dek, random, &plain)?;
        }
        if !keep_plain {
            self.remove(PLAIN)?;
        }
        Ok(())
    }

    /// Writes the new copy beside the current one, before a rotation.
    pub(crate) fn prepare_next(
        &self,
        old: &Dek,
        new: &Dek,
        random: &dyn Random,
    ) -> Result<(), FileError> {
        let _turn = self.turn();
        match self.load(Some(old))? {
            Some(keys) => self.write_encrypted(NEXT, new, random, &keys),
            None => Ok(()),
        }
    }

    /// Removes the new copy after a failed rotation.
    pub(crate) fn drop_next(&self) -> Result<(), FileError> {
        let _turn = self.turn();
        Ok(self.remove(NEXT)?)
    }

    /// Creates the plaintext file if only the copy exists, before the vault is disabled.
    pub(crate) fn restore_plain(&self, dek: &Dek) -> Result<Restored, FileError> {
        let _turn = self.turn();
        if let Some(plain) = self.read_plain()? {
            let keys = if self.exists(COPY)? { plain.count() } else { 0 };
            return Ok(Restored { made: false, keys });
        }
        let Some(keys) = self.read_copy(dek)? else {
            return Ok(Restored::default());
        };
        self.write_plain(&keys)?;
        let keys = keys.count();
        Ok(Restored { made: true, keys })
    }

    pub(crate) fn remove_plain(&self) -> Result<(), FileError> {
        Ok(self.remove(PLAIN)?)
    }

    /// Removes all files except the plaintext file, after the vault was disabled.
    pub(crate) fn remove_copy(&self) -> Result<(), FileError> {
        let _turn = self.turn();
        self.remove(COPY)?;
        Ok(self.remove(NEXT)?)
    }

    fn write_encrypted(
        &self,
        name: &str,
        dek: &Dek,
        random: &dyn Random,
        keys: &ProviderKeys,
    ) -> Result<(), FileError> {
        let text = dek.encrypt(random, &Aad::ProviderKeys, &keys.to_json()?)?;
        Ok(self.write(name, text.as_bytes())?)
    }
}

#[cfg(test)]
mod tests;
