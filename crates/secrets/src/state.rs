//! A process's state of the vault: the data key while unsealed, and the database state that was last read.

mod observed;
mod task_aborted;

use crate::kdf_queue::KdfQueue;
use crate::pause::Pauses;
use crate::provider_files::ProviderFiles;
use crate::request_start::{RequestStart, RequestStarts};
use crate::seen::Seen;
use crate::settings::{Progress, SecretsSettings};
use crate::share::sharing::Sharing;
use crate::uses::Uses;
use crate::{FileError, VaultError};
use arc_swap::ArcSwap;
use gatehouse_domain::{Actor, Clock, Random, Timestamp};
use gatehouse_store::{AuditEntry, Conn, Store, StoreError, inherit};
use gatehouse_vault::{Dek, Keyring, Status};
use serde_json::Value;
use std::fmt;
use std::pin::Pin;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
pub(crate) use task_aborted::TaskAborted;
use tokio::sync::{RwLock, RwLockWriteGuard, watch};
use tokio_util::task::TaskTracker;

/// A future of the type that the store's closures return.
pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

struct Memory {
    keyring: Keyring,
    seen: Seen,
    /// When the latest request that sealed, enabled or disabled the vault started.
    closed: Option<RequestStart>,
    /// The record's key, if this process disabled the vault. Nothing is encrypted with it. It is used only to wrap
    /// the record for a new password.
    spare: Option<Arc<Dek>>,
    /// The number of unlocks on all nodes when an owner sealed this one.
    sealed_after: Option<i64>,
}

pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) kdf: KdfQueue,
    /// The queue that derives keys from passphrases of imported keys. It is separate, so that imports do not delay
    /// logins.
    pub(crate) imports: KdfQueue,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) settings: ArcSwap<SecretsSettings>,
    /// Readers and writers of secrets hold it shared; a vault transition holds it exclusively.
    pub(crate) gate: RwLock<()>,
    pub(crate) status: watch::Sender<Status>,
    pub(crate) progress: watch::Sender<Option<Progress>>,
    pub(crate) provider_keys: watch::Sender<()>,
    begins: RequestStarts,
    memory: Mutex<Memory>,
    files: Arc<ProviderFiles>,
    pub(crate) tasks: TaskTracker,
    pub(crate) pauses: Pauses,
    pub(crate) sharing: Sharing,
    pub(crate) uses: Uses,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner")
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

/// The inputs of [`Inner::new`].
pub(crate) struct Parts {
    pub(crate) store: Store,
    pub(crate) kdf: KdfQueue,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) settings: SecretsSettings,
    pub(crate) seen: Seen,
}

impl Inner {
    pub(crate) fn new(parts: Parts) -> Self {
        let keyring = Keyring::start(parts.seen.record, parts.seen.disabled);
        let (status, _) = watch::channel(keyring.status());
        let (progress, _) = watch::channel(None);
        let files = Arc::new(ProviderFiles::new(parts.settings.data_dir.clone()));
        let memory = Memory {
            keyring,
            seen: parts.seen,
            closed: None,
            spare: None,
            sealed_after: None,
        };
        Self {
            begins: RequestStarts::default(),
            store: parts.store,
            kdf: parts.kdf,
            imports: KdfQueue::for_imports(),
            clock: parts.clock,
            random: parts.random,
            settings: ArcSwap::from_pointee(parts.settings),
            gate: RwLock::new(()),
            status,
            progress,
            provider_keys: watch::Sender::new(()),
            memory: Mutex::new(memory),
            files,
            tasks: TaskTracker::new(),
            pauses: Pauses::default(),
            sharing: Sharing::default(),
            uses: Uses::default(),
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notifies subscribers if the status changed.
    fn publish(&self, status: Status) {
        self.status.send_if_modified(|reported| {
            let changed = *reported != status;
            *reported = status;
            changed
        });
    }

    pub(crate) fn status(&self) -> Status {
        self.memory().keyring.status()
    }

    /// Returns the data key; `None` unless the vault is unsealed.
    pub(crate) fn dek(&self) -> Option<Arc<Dek>> {
        self.memory().keyring.dek()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Records the start of a request.
    pub(crate) fn begin(&self) -> RequestStart {
        self.begins.next()
    }

    /// Takes the gate exclusively, for a transition that is ready to take effect.
    pub(crate) async fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.pauses.point().await;
        self.gate.write().await
    }

    /// Takes the gate exclusively, for a transition that loads a key or disables the vault. Fails if a request that
    /// started later sealed, enabled or disabled the vault.
    pub(crate) async fn alone_unless_superseded(
        &self,
        began: RequestStart,
    ) -> Result<RwLockWriteGuard<'_, ()>, VaultError> {
        let alone = self.alone().await;
        if self.memory().closed > Some(began) {
            return Err(VaultError::Superseded);
        }
        Ok(alone)
    }

    /// Runs a future to completion even if the caller is dropped. Nothing may interrupt it between a commit and the
    /// corresponding change in memory.
    pub(crate) async fn to_the_end<T, E, F>(&self, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<TaskAborted> + Send + 'static,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        match self.tasks.spawn(inherit(work)).await {
            Ok(result) => result,
            Err(error) => {
                tracing::error!(%error, "an operation on the vault did not complete");
                Err(TaskAborted.into())
            }
        }
    }

    /// Runs a function on the provider key files on a blocking thread.
    pub(crate) async fn on_files<T, F>(&self, work: F) -> Result<T, FileError>
    where
        T: Send + 'static,
        F: FnOnce(&ProviderFiles) -> Result<T, FileError> + Send + 'static,
    {
        let files = Arc::clone(&self.files);
        let job = self.tasks.spawn_blocking(move || work(&files));
        job.await.unwrap_or(Err(FileError::TaskAborted))
    }

    /// Writes an audit row in the caller's transaction.
    pub(crate) async fn note(
        &self,
        conn: &mut Conn,
        kind: &str,
        actor: &Actor,
        detail: Value,
    ) -> Result<(), StoreError> {
        let entry = AuditEntry {
            kind,
            actor,
            detail,
        };
        conn.append_audit(&entry, self.now(), &*self.random)
            .await
            .map(drop)
    }

    /// Truncates the write-ahead log, which may contain old plaintext. A failure is only logged:
    /// the change is already committed.
    pub(crate) async fn checkpoint(&self) {
        if let Err(error) = self.store.checkpoint().await {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(
                error,
                "the write-ahead log was not truncated; it may contain old plaintext"
            );
        }
    }
}
