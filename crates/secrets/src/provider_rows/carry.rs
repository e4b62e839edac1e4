//! Moves provider keys between rows and files.

use super::{SUBJECT, deleted_providers};
use crate::SecretsError;
use crate::state::Inner;
use gatehouse_vault::{Aad, Dek};
use std::sync::Arc;

impl Inner {
    /// Moves keys to the location that this installation uses: from the files into the rows, or from the rows into
    /// files if the installation moved to SQLite. A key that the database already has takes precedence, and a key
    /// that was deleted in the database is not moved. After an interruption, the next call completes the move. The
    /// caller must hold the gate. `dek` is the key of an unsealed vault.
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
            // This may be the database from which the keys were moved, so the kept files stay.
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
