//! Provider keys in the database, where all nodes find them. Also moves them between the two files and the rows when an
//! installation changes its database.

use crate::SecretsError;
use crate::provider_files::{ProviderKey, ProviderKeys};
use crate::state::Inner;
use crate::write_secret::{FormedSecret, WhileSealed};
use gatehouse_domain::{Actor, Timestamp};
use gatehouse_store::{Conn, ProviderKeyRow, StoreError};
use gatehouse_vault::{Aad, Dek, Status};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The subject of the change feed.
const SUBJECT: &str = "provider_keys";
/// The key in the table of settings with the providers whose row was deleted. An old file of another node must not
/// bring their keys back.
const DELETED: &str = "provider_keys_deleted";

async fn deleted_providers(conn: &mut Conn) -> Result<BTreeSet<String>, StoreError> {
    let stored = conn.find_setting(DELETED).await?;
    // Written only by the functions below.
    Ok(stored
        .and_then(|ids| serde_json::from_value(ids).ok())
        .unwrap_or_default())
}

/// Notes whether the key of a provider is deleted.
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
    /// Whether there are keys that only an unsealed vault can read.
    pub(crate) some_are_sealed: bool,
    /// The providers whose row only an unsealed vault can read.
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
    /// Whether the keys are rows. With SQLite there is one node, and they are in the two files.
    pub(crate) fn has_provider_rows(&self) -> bool {
        self.store.engine().is_shared()
    }

    /// The providers whose row was deleted.
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

    /// Moves keys to the location that this installation uses: from the files into the rows, or back if the
    /// installation moved to SQLite. A key that the database already has takes precedence, and one that was deleted in
    /// the database is not moved. Repeated after an interruption. The caller must hold the gate, and `dek` is the key
    /// of an unsealed vault.
    pub(crate) async fn carry_provider_keys(
        self: &Arc<Self>,
        dek: Option<&Arc<Dek>>,
    ) -> Result<(), SecretsError> {
        if self.has_provider_rows() {
            self.provider_files_to_rows(dek).await
        } else {
            self.provider_rows_to_files(dek).await
        }
    }

    async fn provider_files_to_rows(
        self: &Arc<Self>,
        dek: Option<&Arc<Dek>>,
    ) -> Result<(), SecretsError> {
        let key = dek.cloned();
        let load = self.on_files(move |files| {
            let _turn = files.turn();
            files.load(key.as_deref())
        });
        let Some(keys) = load.await? else {
            return Ok(());
        };
        let (known, status, _) = self.known();
        let mut rows = Vec::new();
        for (id, entry) in &keys.0 {
            let aad = Aad::provider_key(id);
            let formed = self.form(&aad, &entry.to_text()?, status, dek.map(AsRef::as_ref))?;
            rows.push(self.provider_row(id.clone(), &formed));
        }
        let inner = Arc::clone(self);
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                inner.require_unchanged(conn, &known).await?;
                let deleted = deleted_providers(conn).await?;
                let mut kept = Vec::new();
                for row in &rows {
                    if deleted.contains(&row.id) || conn.find_provider_key(&row.id).await?.is_some()
                    {
                        kept.push(row.id.clone());
                    } else {
                        conn.update_provider_key(row).await?;
                    }
                }
                conn.insert_change(SUBJECT, inner.now()).await?;
                Ok::<_, SecretsError>(kept)
            })
        });
        let kept = write.await?;
        let moved = keys.0.len().saturating_sub(kept.len());
        let (dek, random) = (dek.cloned(), Arc::clone(&self.random));
        let set_aside =
            self.on_files(move |files| files.set_aside(dek.as_deref(), &*random, &keys));
        set_aside.await?;
        tracing::info!(
            moved,
            ?kept,
            "the provider keys are in the database now, except those that it had already or that were deleted; their \
             files were replaced by a .moved file, for the database from which they were moved"
        );
        Ok(())
    }

    async fn provider_rows_to_files(
        self: &Arc<Self>,
        dek: Option<&Arc<Dek>>,
    ) -> Result<(), SecretsError> {
        let found = self.read_provider_rows().await?;
        if found.keys.0.is_empty() {
            // This may be the database from which the keys were moved, so what was set aside is kept.
            return Ok(());
        }
        let (dek, random) = (dek.cloned(), Arc::clone(&self.random));
        let keep = dek.is_none() || self.settings.load().keep_plaintext_provider_keys;
        let ids: Vec<String> = found.keys.0.keys().cloned().collect();
        let merge = self.on_files(move |files| {
            let _turn = files.turn();
            let mut keys = files.load(dek.as_deref())?.unwrap_or_default();
            for (id, entry) in found.keys.0 {
                keys.0.entry(id).or_insert(entry);
            }
            if let Some(dek) = &dek {
                files.write_copy(dek, &*random, &keys)?;
            }
            if keep {
                files.write_plain(&keys)?;
            } else {
                files.remove_plain()?;
            }
            files.remove_set_aside()
        });
        merge.await?;
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                for id in &ids {
                    conn.delete_provider_key(id).await?;
                }
                Ok::<_, SecretsError>(())
            })
        });
        write.await
    }
}
