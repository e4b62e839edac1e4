//! The two files of provider keys: `provider_keys.json` (plaintext) and `provider_keys.json.enc` (encrypted). While the
//! plaintext file exists, it is authoritative and the copy is made from it. Blocking: call it off the async threads.

mod disk;
mod set_aside;

use disk::close_to_others;
use gatehouse_domain::{ErrorCode, KeyBinding, Problem, Random};
use gatehouse_vault::{Aad, CryptoError, Dek};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use url::Url;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

const PLAIN: &str = "provider_keys.json";
const COPY: &str = "provider_keys.json.enc";
/// The copy encrypted with a data key that is about to become the vault's.
const NEXT: &str = "provider_keys.json.enc.next";
/// What was in the files when the keys became rows: encrypted if there is a vault. No server reads them. For the
/// database from which the installation was moved. After a later move with other keys, a number follows: `.moved.2`.
const MOVED_PLAIN: &str = "provider_keys.json.moved";
const MOVED_COPY: &str = "provider_keys.json.enc.moved";
const TEMPORARY: &str = "provider_keys.json.tmp";
/// The files that a backup of the data directory needs.
pub const PROVIDER_FILES: [&str; 3] = [PLAIN, COPY, NEXT];

/// A file of provider keys could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("a file of provider keys cannot be read or written")]
    Io(#[from] io::Error),
    /// The content is not valid.
    #[error("{0} is damaged")]
    Damaged(&'static str),
    /// The copy is encrypted with another key.
    #[error("{0} cannot be decrypted with the vault's key")]
    Undecryptable(&'static str),
    #[error(transparent)]
    Crypto(#[from] CryptoError),
    /// The task ended before it finished.
    #[error("the file operation did not complete")]
    TaskAborted,
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Io(_) => Self::new(
                ErrorCode::StorageUnavailable,
                "The data directory is currently unavailable. Nothing was changed.",
            ),
            _ => Self::internal(),
        }
    }
}

/// One provider's key, as in the file. It is serialized only here.
#[derive(PartialEq, Eq, Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(crate) struct ProviderKey {
    pub(crate) key: String,
    /// The base URL that the key was entered for.
    pub(crate) base_url: String,
    /// The kind of service that the key was entered for; `None` in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
}

impl ProviderKey {
    /// The text of a row. It contains the service, so that the key cannot be moved to another service by writing the
    /// row.
    pub(crate) fn to_text(&self) -> Result<SecretString, FileError> {
        // Allocate enough at once: growing would leave copies of the key behind.
        let bytes = 256 + 2 * (self.key.len() + self.base_url.len());
        let mut json = Zeroizing::new(Vec::with_capacity(bytes));
        serde_json::to_writer(&mut *json, self).map_err(io::Error::from)?;
        let text = str::from_utf8(&json).map_err(io::Error::other)?;
        Ok(SecretString::from(text))
    }

    /// The service that the key is bound to; `None` if the file was edited and contains no valid
    /// URL.
    pub(crate) fn belongs_to(&self) -> Option<KeyBinding> {
        let url = Url::parse(&self.base_url).ok()?;
        Some(match &self.kind {
            Some(kind) => KeyBinding::of_url(kind, &url),
            None => KeyBinding::of_any_kind(&url),
        })
    }
}

/// All keys, by provider.
#[derive(Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ProviderKeys(pub(crate) BTreeMap<String, ProviderKey>);

impl ProviderKeys {
    fn to_json(&self) -> Result<Zeroizing<Vec<u8>>, FileError> {
        // Allocate enough at once: growing would leave copies of the keys behind.
        let bytes: usize = self
            .0
            .values()
            .map(|k| k.key.len() + k.base_url.len())
            .sum();
        let mut json = Zeroizing::new(Vec::with_capacity(1024 + 2 * bytes + 256 * self.0.len()));
        serde_json::to_writer_pretty(&mut *json, self).map_err(io::Error::from)?;
        Ok(json)
    }

    fn count(&self) -> u64 {
        self.0.len() as u64
    }
}

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

    /// Serializes jobs: each one reads, decides and writes.
    pub(crate) fn turn(&self) -> std::sync::MutexGuard<'_, ()> {
        self.turn
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// At start: removes a half-written temporary file, and makes the plaintext files private.
    pub(crate) fn sweep(&self) -> Result<(), FileError> {
        let _turn = self.turn();
        self.remove(TEMPORARY)?;
        close_to_others(&self.path(PLAIN), PLAIN)?;
        for name in self.names_of(MOVED_PLAIN)? {
            close_to_others(&self.path(&name), &name)?;
        }
        Ok(())
    }

    /// Loads the keys of the plaintext file, or else of the copy; `None` if there is neither.
    pub(crate) fn load(&self, dek: Option<&Dek>) -> Result<Option<ProviderKeys>, FileError> {
        if let Some(plain) = self.read_plain()? {
            return Ok(Some(plain));
        }
        match dek {
            Some(dek) => self.read_copy(dek),
            None => Ok(None),
        }
    }

    /// Whether only the encrypted copy contains the keys.
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

    /// After an unseal: creates the copy if it is missing or differs from the plaintext file,
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

    /// Before a rotation: writes the new copy beside the current one.
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

    /// Before the vault is disabled: creates the plaintext file if only the copy exists.
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

    /// After the vault was disabled: leaves only the plaintext file.
    pub(crate) fn remove_copy(&self) -> Result<(), FileError> {
        let _turn = self.turn();
        self.remove(COPY)?;
        Ok(self.remove(NEXT)?)
    }

    fn read_plain(&self) -> Result<Option<ProviderKeys>, FileError> {
        self.read_unencrypted((PLAIN, PLAIN))
    }

    fn read_unencrypted(
        &self,
        (name, first): (&str, &'static str),
    ) -> Result<Option<ProviderKeys>, FileError> {
        let Some(bytes) = self.read(name)? else {
            return Ok(None);
        };
        let keys = serde_json::from_slice(&bytes).map_err(|_| FileError::Damaged(first))?;
        Ok(Some(keys))
    }

    /// Reads the copy that the key opens: the current one, or the one that a rotation prepared.
    fn read_copy(&self, dek: &Dek) -> Result<Option<ProviderKeys>, FileError> {
        match self.open((COPY, COPY), dek) {
            Ok(Some(keys)) => {
                self.remove(NEXT)?;
                Ok(Some(keys))
            }
            in_force => match self.open((NEXT, NEXT), dek) {
                Ok(Some(keys)) => {
                    self.rename(NEXT, COPY)?;
                    Ok(Some(keys))
                }
                Ok(None) | Err(_) => in_force,
            },
        }
    }

    fn open(
        &self,
        (name, first): (&str, &'static str),
        dek: &Dek,
    ) -> Result<Option<ProviderKeys>, FileError> {
        let Some(bytes) = self.read(name)? else {
            return Ok(None);
        };
        let text = str::from_utf8(&bytes).map_err(|_| FileError::Damaged(first))?;
        let json = dek
            .decrypt(&Aad::ProviderKeys, text.trim())
            .map_err(|_| FileError::Undecryptable(first))?;
        let keys = serde_json::from_slice(&json).map_err(|_| FileError::Damaged(first))?;
        Ok(Some(keys))
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
