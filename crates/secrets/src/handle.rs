//! The crate's handle: opening it, its settings and its status. The other modules implement the
//! operations on the same type.

use crate::SecretsError;
use crate::VaultError;
use crate::kdf_queue::KdfQueue;
use crate::provider_files::ProviderFiles;
use crate::request_start::RequestStart;
use crate::seen::Seen;
use crate::settings::{Progress, SecretsSettings};
use crate::state::{Inner, Parts};
use gatehouse_domain::{Clock, Random};
use gatehouse_store::Store;
use gatehouse_vault::{RecordState, Status};
use std::sync::Arc;
use tokio::sync::watch;

/// The vault and the secrets it protects. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Secrets(pub(crate) Arc<Inner>, Option<RequestStart>);

impl Secrets {
    /// Reads the vault record and determines the status, which is never `Unsealed`. Logs an error if the record is
    /// damaged, weakened or missing. In these cases, the status is `Sealed`.
    pub async fn open(
        store: Store,
        kdf: KdfQueue,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        settings: SecretsSettings,
    ) -> Result<Self, SecretsError> {
        let as_read = settings.clone();
        let read =
            store.read(move |conn| Box::pin(async move { Seen::read(conn, &as_read).await }));
        let (seen, record) = read.await?;
        if seen.record == RecordState::Lost {
            tracing::error!(
                "encrypted secrets exist, but the vault record is missing; they cannot be read, \
                 and no new vault is created; restore a backup"
            );
        }
        if let Some(Err(error)) = record.map(|record| record.check()) {
            tracing::error!(%error, "the vault record cannot be opened with a password");
        }
        let inner = Inner::new(Parts {
            store,
            kdf,
            clock,
            random,
            settings,
            seen,
        });
        let inner = Arc::new(inner);
        if let Err(error) = inner.on_files(ProviderFiles::sweep).await {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, "the provider key files could not be checked");
        }
        if inner.status() != Status::Sealed
            && let Err(error) = inner.carry_provider_keys(None).await
        {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(
                error,
                "the provider keys were not moved; the next start retries"
            );
        }
        Ok(Self(inner, None))
    }

    /// Returns a handle for one request that starts now. Transitions through the handle count as started now, even
    /// if the caller first takes time to check a password. They therefore do not undo a later seal.
    #[must_use]
    pub fn for_request(&self) -> Self {
        Self(Arc::clone(&self.0), Some(self.0.begin()))
    }

    pub(crate) fn began(&self) -> RequestStart {
        self.1.unwrap_or_else(|| self.0.begin())
    }

    /// Applies new settings. Only [`Secrets::disable`] and [`Secrets::enable`], on any node, change
    /// whether the vault is enabled.
    pub fn update_settings(&self, mut settings: SecretsSettings) {
        let old = self.0.settings.load();
        settings.vault_enabled = old.vault_enabled;
        settings.vault_enabled_fixed = old.vault_enabled_fixed;
        settings.data_dir.clone_from(&old.data_dir);
        self.0.settings.store(Arc::new(settings));
    }

    pub fn status(&self) -> Status {
        self.0.status()
    }

    /// Returns a receiver for the vault's status and its changes.
    pub fn subscribe_status(&self) -> watch::Receiver<Status> {
        self.0.status.subscribe()
    }

    /// Returns a receiver that is notified when this node stores or removes a provider's key.
    pub fn subscribe_provider_keys(&self) -> watch::Receiver<()> {
        self.0.provider_keys.subscribe()
    }

    /// Returns a receiver for the progress of a migration, rotation or disable; `None` while none runs.
    pub fn progress(&self) -> watch::Receiver<Option<Progress>> {
        self.0.progress.subscribe()
    }

    /// Reads the database after another node changed the vault. If the record has a new key, drops the old key,
    /// which seals the vault on this node. Keeps the vault unsealed if the other node has handed over the new key.
    /// On an error, nothing has changed and the caller must retry.
    pub async fn refresh(&self) -> Result<(), VaultError> {
        let _alone = self.0.gate.write().await;
        let (seen, record) = self.0.read_seen().await?;
        self.0.follow_rotation(&seen, record.as_ref()).await?;
        self.0.observe(seen);
        Ok(())
    }
}
