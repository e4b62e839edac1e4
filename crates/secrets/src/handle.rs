//! The handle of this room: opening it, its settings, its status. The operations are in the other
//! modules, each on the same type.

use crate::SecretsError;
use crate::VaultError;
use crate::kdf_queue::KdfQueue;
use crate::provider_files::ProviderFiles;
use crate::seen::Seen;
use crate::state::{Began, Inner, Parts};
use gatehouse_domain::{Clock, Random};
use gatehouse_store::Store;
use gatehouse_vault::{RecordState, Status};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;

/// What the settings say of this room.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a setting of its own; they make no states together"
)]
pub struct SecretsSettings {
    /// `auth.vault_enabled`.
    pub vault_enabled: bool,
    /// Whether the environment or the command line says so, and the database has no say.
    pub vault_enabled_fixed: bool,
    /// `vault.plaintext_while_sealed`.
    pub plaintext_while_sealed: bool,
    /// `vault.keep_plaintext_provider_keys`.
    pub keep_plaintext_provider_keys: bool,
    /// Where the files of provider keys are.
    pub data_dir: PathBuf,
}

/// How far a long step of the vault's life has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// `migrate`, `disable` or `rotate`.
    pub operation: &'static str,
    /// Secrets done.
    pub done: u64,
    /// Secrets in all.
    pub total: u64,
}

/// The vault and the secrets under it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Secrets(pub(crate) Arc<Inner>, Option<Began>);

impl Secrets {
    /// Reads the vault record and decides the status; never unsealed. A record that is damaged,
    /// weakened or missing is told loudly in the log, and the service goes on, sealed.
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
                "secrets are encrypted but the vault record is missing: \
                 they cannot be read, and no vault is made over them; restore a backup"
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
        if let Err(error) = inner.on_files(ProviderFiles::sweep).await {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, "the files of provider keys could not be looked at");
        }
        Ok(Self(Arc::new(inner), None))
    }

    /// A handle for one request that begins now. Its transitions count as begun now, however long the
    /// caller takes to check a password before: a seal that comes in between is not undone.
    #[must_use]
    pub fn for_request(&self) -> Self {
        Self(Arc::clone(&self.0), Some(self.0.begin()))
    }

    pub(crate) fn began(&self) -> Began {
        self.1.unwrap_or_else(|| self.0.begin())
    }

    /// Puts new settings in force. Whether there is a vault changes only through
    /// [`Secrets::disable`] and [`Secrets::enable`], here or on another node.
    pub fn update_settings(&self, mut settings: SecretsSettings) {
        let old = self.0.settings.load();
        settings.vault_enabled = old.vault_enabled;
        settings.vault_enabled_fixed = old.vault_enabled_fixed;
        settings.data_dir.clone_from(&old.data_dir);
        self.0.settings.store(Arc::new(settings));
    }

    /// The vault's status.
    pub fn status(&self) -> Status {
        self.0.status()
    }

    /// The vault's status and its changes.
    pub fn subscribe_status(&self) -> watch::Receiver<Status> {
        self.0.status.subscribe()
    }

    /// Changes whenever a provider's key was stored or removed here.
    pub fn subscribe_provider_keys(&self) -> watch::Receiver<()> {
        self.0.provider_keys.subscribe()
    }

    /// How far the running migration, rotation or disabling has come; `None` while none runs.
    pub fn progress(&self) -> watch::Receiver<Option<Progress>> {
        self.0.progress.subscribe()
    }

    /// Another node changed the vault: looks at the database again. A key that is not the record's
    /// any more is forgotten, which seals the vault here.
    /// An error means that nothing was learned: ask again.
    pub async fn refresh(&self) -> Result<(), VaultError> {
        let _alone = self.0.gate.write().await;
        let (seen, _) = self.0.read_seen().await?;
        self.0.observe(seen);
        Ok(())
    }
}
