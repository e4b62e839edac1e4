//! Changes of the files while the keys are not in the database.

use super::Change;
use crate::SecretsError;
use crate::provider_files::{FileError, ProviderFiles};
use crate::provider_rows::ReadableKeys;
use crate::state::Inner;
use gatehouse_vault::Status;
use std::sync::Arc;

impl Inner {
    /// Reads the provider key files. The caller must hold the gate.
    pub(super) async fn read_provider_files(&self) -> Result<ReadableKeys, SecretsError> {
        let dek = self.dek();
        let load = self.on_files(move |files| {
            let _turn = files.turn();
            let keys = files.load(dek.as_deref())?;
            let some_are_sealed = keys.is_none() && files.is_closed()?;
            Ok(ReadableKeys {
                keys: keys.unwrap_or_default(),
                some_are_sealed,
                ..ReadableKeys::default()
            })
        });
        Ok(load.await?)
    }

    pub(super) async fn change_files(&self, change: Change) -> Result<(), SecretsError> {
        let (_, status, dek) = self.known();
        if status == Status::Sealed {
            return Err(SecretsError::Sealed);
        }
        let keep_plain = self.settings.load().keep_plaintext_provider_keys;
        let random = Arc::clone(&self.random);
        let changed = self.on_files(move |files: &ProviderFiles| {
            let _turn = files.turn();
            if dek.is_none() && files.is_closed()? {
                return Ok(Err(SecretsError::Sealed));
            }
            let mut keys = files.load(dek.as_deref())?.unwrap_or_default();
            match change {
                Change::Set { id, entry } => drop(keys.0.insert(id, entry)),
                Change::Remove { id } => {
                    if keys.0.remove(&id).is_none() {
                        return Ok(Err(SecretsError::NotFound("provider key")));
                    }
                }
            }
            // The plaintext file is written last: while it exists, it is authoritative.
            match dek {
                Some(dek) => {
                    files.write_copy(&dek, &*random, &keys)?;
                    if keep_plain {
                        files.write_plain(&keys)?;
                    } else {
                        files.remove_plain()?;
                    }
                }
                None => files.write_plain(&keys)?,
            }
            Ok::<_, FileError>(Ok(()))
        });
        changed.await?
    }
}
