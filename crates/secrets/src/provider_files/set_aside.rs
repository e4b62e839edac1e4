//! The files that are kept after the provider keys were moved to rows, for the database from which they were moved.

use super::{COPY, FileError, MOVED_COPY, MOVED_PLAIN, NEXT, PLAIN, ProviderFiles, ProviderKeys};
use gatehouse_domain::Random;
use gatehouse_vault::Dek;
use std::io::{self, ErrorKind};

impl ProviderFiles {
    /// Replaces the files with a file of a different name, after the keys were stored in the database. Removes the
    /// authoritative file last.
    pub(crate) fn set_aside(
        &self,
        dek: Option<&Dek>,
        random: &dyn Random,
        keys: &ProviderKeys,
    ) -> Result<(), FileError> {
        let _turn = self.turn();
        self.write_aside(dek, random, keys)?;
        if dek.is_some() {
            // An interrupted call may have written the same keys in plaintext before there was a vault.
            for name in self.names_of(MOVED_PLAIN)? {
                let found = self.read_aside((name.as_str(), MOVED_PLAIN), None);
                if found.ok().flatten().as_ref() == Some(keys) {
                    self.remove(&name)?;
                }
            }
        }
        for name in [COPY, NEXT, PLAIN] {
            self.remove(name)?;
        }
        Ok(())
    }

    /// Writes the keys to the first `.moved` file that does not exist, and verifies it by reading it back. Writes
    /// nothing if a `.moved` file contains the same keys.
    fn write_aside(
        &self,
        dek: Option<&Dek>,
        random: &dyn Random,
        keys: &ProviderKeys,
    ) -> Result<(), FileError> {
        let first = if dek.is_some() {
            MOVED_COPY
        } else {
            MOVED_PLAIN
        };
        let mut number = 1_u32;
        loop {
            let name = numbered(first, number);
            let is_new = !self.exists(&name)?;
            if is_new {
                match dek {
                    Some(dek) => self.write_encrypted(&name, dek, random, keys)?,
                    None => self.write(&name, &keys.to_json()?)?,
                }
            }
            match self.read_aside((name.as_str(), first), dek) {
                Ok(Some(found)) if found == *keys => return Ok(()),
                Ok(_) if is_new => return Err(FileError::Damaged(first)),
                Err(error) if is_new => return Err(error),
                // This name is used for the keys of an earlier move.
                Ok(_) | Err(_) => number = number.saturating_add(1),
            }
        }
    }

    /// Removes the files that [`Self::set_aside`] kept. Called when keys of a newer database are moved to files.
    pub(crate) fn remove_set_aside(&self) -> Result<(), FileError> {
        self.remove_all(MOVED_COPY)?;
        Ok(self.remove_all(MOVED_PLAIN)?)
    }

    /// Returns the names of the files with this name, with and without a number.
    pub(super) fn names_of(&self, first: &str) -> io::Result<Vec<String>> {
        let entries = match std::fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry?.file_name();
            let Some(name) = name.to_str() else {
                continue;
            };
            let is_number = |number: &str| number.parse::<u32>().is_ok();
            if name.strip_prefix(first).is_some_and(|rest| {
                rest.is_empty() || rest.strip_prefix('.').is_some_and(is_number)
            }) {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    pub(super) fn remove_all(&self, first: &str) -> io::Result<()> {
        for name in self.names_of(first)? {
            self.remove(&name)?;
        }
        Ok(())
    }

    /// Reads a file by its name. Errors contain the name without a number.
    pub(super) fn read_aside(
        &self,
        (name, first): (&str, &'static str),
        dek: Option<&Dek>,
    ) -> Result<Option<ProviderKeys>, FileError> {
        match dek {
            Some(dek) => self.open((name, first), dek),
            None => self.read_unencrypted((name, first)),
        }
    }
}

/// Returns the name of the file for the move with this number. The name for the first move contains no number.
pub(super) fn numbered(first: &str, number: u32) -> String {
    if number == 1 {
        first.to_owned()
    } else {
        format!("{first}.{number}")
    }
}
