//! Keys of model providers. On SQLite, the keys are in two files (see `provider_files`). On a database that nodes
//! share, they are in a table (see `provider_rows`).

mod checks;
mod files;

use crate::provider_files::ProviderKey;
use crate::provider_rows::{Note, ReadableKeys, note_deleted};
use crate::{SecretKind, Secrets, SecretsError};
pub use checks::storable_key;
use checks::{check_id, check_url, hint, normal};
use futures_util::future::BoxFuture;
use gatehouse_domain::{Actor, KeyBinding};
use gatehouse_vault::Aad;
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;

const MAX_ID_CHARACTERS: usize = 64;
const MAX_KEY_BYTES: usize = 4096;
const MAX_URL_BYTES: usize = 2048;
/// The minimum length of a key with a hint. Four characters would reveal too much of a shorter key.
const MIN_HINTED: usize = 12;

/// A provider that has a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderKeyInfo {
    /// The provider's ID.
    pub id: String,
    /// The key's last four characters, to help a person recognize it.
    pub key_hint: String,
    /// The base URL that the key was entered for.
    pub base_url: String,
    belongs_to: Option<KeyBinding>,
}

impl ProviderKeyInfo {
    /// Returns whether the key may be sent to this service.
    pub fn serves(&self, service: &KeyBinding) -> bool {
        self.belongs_to
            .as_ref()
            .is_some_and(|binding| binding.admits(service))
    }
}

enum Change {
    Set { id: String, entry: ProviderKey },
    Remove { id: String },
}

impl Secrets {
    /// Lists the providers that have a key. Omits keys that cannot be read while the vault is sealed.
    pub async fn list_provider_keys(&self) -> Result<Vec<ProviderKeyInfo>, SecretsError> {
        let readable = self.readable_provider_keys().await?;
        let info = |(id, entry): (&String, &ProviderKey)| ProviderKeyInfo {
            id: id.clone(),
            key_hint: hint(&entry.key),
            base_url: entry.base_url.clone(),
            belongs_to: entry.belongs_to(),
        };
        Ok(readable.keys.0.iter().map(info).collect())
    }

    /// Returns the key to send to this service. Returns `None` if the provider has no key, or a key for another
    /// kind or origin. Returns `Sealed` if the key may be one that currently cannot be read, and `Damaged` if its
    /// row does not decrypt.
    pub async fn provider_key(
        &self,
        id: &str,
        service: &KeyBinding,
    ) -> Result<Option<SecretString>, SecretsError> {
        let readable = self.readable_provider_keys().await?;
        if readable.damaged.iter().any(|damaged| damaged == id) {
            return Err(SecretsError::Damaged(Aad::provider_key(id).to_string()));
        }
        let entry = readable.keys.0.get(id);
        if entry.is_none() && readable.some_are_sealed {
            return Err(SecretsError::Sealed);
        }
        let belongs = |entry: &&ProviderKey| {
            entry
                .belongs_to()
                .is_some_and(|binding| binding.admits(service))
        };
        let entry = entry.filter(belongs);
        Ok(entry.map(|entry| SecretString::from(entry.key.as_str())))
    }

    /// Stores a key for the provider's current kind and base URL. Returns `Sealed` while the vault
    /// is sealed.
    pub async fn set_provider_key(
        &self,
        actor: &Actor,
        id: &str,
        key: SecretString,
        (kind, base_url): (&str, &str),
    ) -> Result<(), SecretsError> {
        check_id(id)?;
        let key = storable_key(&key)?;
        check_url(base_url)?;
        let entry = ProviderKey {
            key: key.expose_secret().to_owned(),
            base_url: normal(base_url).to_owned(),
            kind: Some(kind.to_owned()),
        };
        let note = Note {
            actor: actor.clone(),
            kind: "provider_key.set",
            detail: json!({ "id": id, "base_url": entry.base_url }),
        };
        let change = Change::Set {
            id: id.to_owned(),
            entry,
        };
        self.change_provider_keys(change, note).await
    }

    /// Removes a provider's key. Returns `Sealed` while the vault is sealed.
    pub async fn remove_provider_key(&self, actor: &Actor, id: &str) -> Result<(), SecretsError> {
        let note = Note {
            actor: actor.clone(),
            kind: "provider_key.removed",
            detail: json!({ "id": id }),
        };
        let change = Change::Remove { id: id.to_owned() };
        self.change_provider_keys(change, note).await?;
        // A separate step after the change, because the keys may be in files.
        self.forget_use(SecretKind::Provider, id);
        let (kind, id) = (SecretKind::Provider.as_str(), id.to_owned());
        let forget = self
            .0
            .store
            .write(move |conn| Box::pin(async move { conn.delete_secret_use(kind, &id).await }));
        Ok(forget.await?)
    }

    /// Notifies this node's subscribers that another node changed a key.
    pub fn provider_keys_changed(&self) {
        self.0.provider_keys.send_replace(());
    }

    /// Reads the keys of rows and files. After a move and before the first unseal, the keys are still in the
    /// previous location.
    fn readable_provider_keys(&self) -> BoxFuture<'_, Result<ReadableKeys, SecretsError>> {
        Box::pin(async move {
            let _shared = self.0.gate.read().await;
            let rows = self.0.read_provider_rows().await?;
            let files = match self.0.read_provider_files().await {
                Ok(files) => files,
                // The keys in the database still work.
                Err(error) if self.0.has_provider_rows() => {
                    let error: &dyn std::error::Error = &error;
                    tracing::error!(error, "the files of provider keys are not readable");
                    ReadableKeys::default()
                }
                Err(error) => return Err(error),
            };
            let (mut own, mut other) = if self.0.has_provider_rows() {
                (rows, files)
            } else {
                (files, rows)
            };
            let deleted = if self.0.has_provider_rows() && !other.keys.0.is_empty() {
                self.0.deleted_providers().await?
            } else {
                BTreeSet::new()
            };
            for (id, entry) in std::mem::take(&mut other.keys.0) {
                let is_deleted = deleted.contains(&id);
                // An unreadable key is not replaced by a key that may be older.
                if !is_deleted && !own.sealed.contains(&id) && !own.damaged.contains(&id) {
                    own.keys.0.entry(id).or_insert(entry);
                }
            }
            own.some_are_sealed |= other.some_are_sealed;
            own.damaged.append(&mut other.damaged);
            Ok(own)
        })
    }

    async fn change_provider_keys(&self, change: Change, note: Note) -> Result<(), SecretsError> {
        let inner = Arc::clone(&self.0);
        let work = async move {
            if inner.has_provider_rows() {
                match change {
                    Change::Set { id, entry } => inner.set_provider_row(id, &entry, note).await?,
                    Change::Remove { id } => inner.delete_provider_row(id, note).await?,
                }
                inner.provider_keys.send_replace(());
                return Ok(());
            }
            // Applies changes by other processes before encrypting with the vault's key.
            inner.view().await?;
            let _shared = inner.gate.read().await;
            // The files are not part of a transaction, so the caller's credential is checked before changing them.
            inner.store.check_guard().await?;
            let (id, is_removed) = match &change {
                Change::Remove { id } => (id.clone(), true),
                Change::Set { id, .. } => (id.clone(), false),
            };
            inner.change_files(change).await?;
            inner.provider_keys.send_replace(());
            let job = Arc::clone(&inner);
            let write = inner.store.write(move |conn| {
                Box::pin(async move {
                    // Also deletes the row. If the row could not be moved into the files, it would restore the
                    // removed key.
                    if is_removed {
                        conn.delete_provider_key(&id).await?;
                    } else {
                        // If the installation moves to PostgreSQL, the files are moved into rows.
                        note_deleted(conn, &id, false, job.now()).await?;
                    }
                    job.note_provider_keys(conn, &note).await
                })
            });
            Ok(write.await?)
        };
        self.0.to_the_end(work).await
    }
}

#[cfg(test)]
mod tests;
