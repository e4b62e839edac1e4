//! Reads the files.

use super::{COPY, FileError, NEXT, PLAIN, ProviderFiles, ProviderKeys};
use gatehouse_vault::{Aad, Dek};

impl ProviderFiles {
    pub(super) fn read_plain(&self) -> Result<Option<ProviderKeys>, FileError> {
        self.read_unencrypted((PLAIN, PLAIN))
    }

    pub(super) fn read_unencrypted(
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
    pub(super) fn read_copy(&self, dek: &Dek) -> Result<Option<ProviderKeys>, FileError> {
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

    pub(super) fn open(
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
}
