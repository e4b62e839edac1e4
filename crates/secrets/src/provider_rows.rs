//! Provider keys in the database, which all nodes share. Also moves the keys between the two files and the rows
//! when an installation changes its database.

mod carry;

use crate::SecretsError;
use crate::provider_files::{ProviderKey, ProviderKeys};
use crate::state::Inner;
use crate::write_secret::{FormedSecret, WhileSealed};
use gatehouse_domain::{Actor, Timestamp};
use gatehouse_store::{Conn, ProviderKeyRow, StoreError};
use gatehouse_vault::{Aad, Status};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The subject in the change feed.
const SUBJECT: &str = "provider_keys";
/// The key of the row in the table `settings` that lists the providers whose row was deleted. Another node may have
/// an old file with their keys, which must not be moved to rows again.
const DELETED: &str = "provider_keys_deleted";

async fn deleted_providers(conn: &mut Conn) -> Result<BTreeSet<String>, StoreError> {
    let stored = conn.find_setting(DELETED).await?;
    // Only the functions below write this value.
    Ok(stored
        .and_then(|ids| serde_json::from_value(ids).ok())
        .unwrap_or_default())
}

/// Records whether the key of a provider is deleted.
pub(crate) async fn note_deleted(
    conn: &mut Conn,
    id: &str,
    is_deleted: bool,
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut deleted = deleted_providers(conn).await?;
    let is_changed = if is_deleted {
        deleted.insert(id.to_owned())
    } else {
        deleted.remove(id)
    };
    if is_changed {
        conn.update_setting(DELETED, &json!(deleted), now).await?;
    }
    Ok(())
}

/// The keys that can be read now.
#[derive(Default)]
pub(crate) struct ReadableKeys {
    pub(crate) keys: ProviderKeys,
    /// Whether some keys can be read only with an unsealed vault.
    pub(crate) some_are_sealed: bool,
    /// The providers whose row can be read only with an unsealed vault.
    pub(crate) sealed: Vec<String>,
    /// Providers whose stored key does not decrypt.
    pub(crate) damaged: Vec<String>,
}

/// The audit row of a change.
#[derive(Clone)]
pub(crate) struct Note {
    pub(crate) actor: Actor,
    pub(crate) kind: &'static str,
    pub(crate) detail: Value,
}

impl Inner {
    /// Returns whether the keys are rows. With SQLite there is one node, and the keys are in the two files.
    pub(crate) fn has_provider_rows(&self) -> bool {
        self.store.engine().is_shared()
    }

    /// Returns the providers whose row was deleted.
    pub(crate) async fn deleted_providers(&self) -> Result<BTreeSet<String>, StoreError> {
        self.store
            .read(|conn| Box::pin(async move { deleted_providers(conn).await }))
            .await
    }

    /// Reads the rows. The caller must hold the gate.
    pub(crate) async fn read_provider_rows(&self) -> Result<ReadableKeys, SecretsError> {
        let read = self
            .store
            .read(|conn| Box::pin(async move { conn.list_provider_keys().await }));
        let mut readable = ReadableKeys::default();
        for row in read.await? {
            let aad = Aad::provider_key(&row.id);
            match self.open_stored(&aad, row.key, row.encrypted) {
                Ok(text) => {
                    if let Ok(entry) = serde_json::from_str(text.expose_secret()) {
                        readable.keys.0.insert(row.id, entry);
                    } else {
                        tracing::error!(provider = row.id, "a stored provider key is not readable");
                        readable.damaged.push(row.id);
                    }
                }
                Err(SecretsError::Sealed) => {
                    readable.some_are_sealed = true;
                    readable.sealed.push(row.id);
                }
                // The keys of other providers still work.
                Err(SecretsError::Damaged(what)) => {
                    tracing::error!(what, "a stored provider key does not decrypt");
                    readable.damaged.push(row.id);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(readable)
    }

    pub(crate) async fn set_provider_row(
        self: &Arc<Self>,
        id: String,
        entry: &ProviderKey,
        note: Note,
    ) -> Result<(), SecretsError> {
        let secrets = [(Aad::provider_key(&id), entry.to_text()?)];
        let inner = Arc::clone(self);
        let write = self.write_secrets(&secrets, WhileSealed::Refuse, move |conn, formed| {
            let (inner, note, id) = (Arc::clone(&inner), note.clone(), id.clone());
            Box::pin(async move {
                let formed = formed.first().ok_or(SecretsError::Sealed)?;
                let row = inner.provider_row(id, formed);
                conn.update_provider_key(&row).await?;
                note_deleted(conn, &row.id, false, inner.now()).await?;
                inner.note_provider_keys(conn, &note).await?;
                Ok::<_, SecretsError>(())
            })
        });
        write.await
    }

    pub(crate) async fn delete_provider_row(
        self: &Arc<Self>,
        id: String,
        note: Note,
    ) -> Result<(), SecretsError> {
        if self.view().await?.status == Status::Sealed {
            return Err(SecretsError::Sealed);
        }
        let inner = Arc::clone(self);
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                if !conn.delete_provider_key(&id).await? {
                    return Err(SecretsError::NotFound("provider key"));
                }
                note_deleted(conn, &id, true, inner.now()).await?;
                inner.note_provider_keys(conn, &note).await?;
                Ok(())
            })
        });
        write.await
    }

    /// Writes the audit row of a change and notifies the other nodes.
    pub(crate) async fn note_provider_keys(
        &self,
        conn: &mut Conn,
        note: &Note,
    ) -> Result<(), StoreError> {
        let now = self.now();
        self.note(conn, note.kind, &note.actor, note.detail.clone())
            .await?;
        conn.insert_change(SUBJECT, now).await
    }

    fn provider_row(&self, id: String, formed: &FormedSecret) -> ProviderKeyRow {
        ProviderKeyRow {
            id,
            key: (*formed.value).clone(),
            encrypted: formed.encrypted,
            created_at: self.now(),
            updated_at: self.now(),
        }
    }
}
