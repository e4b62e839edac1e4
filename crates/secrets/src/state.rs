//! A process's state of the vault: the data key while unsealed, and the database state that was
//! last read. Must not know what the transitions do.

use crate::handle::{Progress, SecretsSettings};
use crate::kdf_queue::KdfQueue;
use crate::pause::Pauses;
use crate::provider_files::ProviderFiles;
use crate::seen::{Seen, View};
use crate::{FileError, VaultError};
use arc_swap::ArcSwap;
use gatehouse_domain::{Actor, Clock, Random, Timestamp};
use gatehouse_store::{AuditEntry, Conn, Store, StoreError, inherit};
use gatehouse_vault::{Dek, Keyring, RecordState, Status, VaultRecord};
use serde_json::Value;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{RwLock, RwLockWriteGuard, watch};
use tokio_util::task::TaskTracker;

/// A future as the store's closures return it.
pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The start of a request, as a sequence number within this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RequestStart(u64);

struct Memory {
    keyring: Keyring,
    seen: Seen,
    /// The latest start of a request that sealed, enabled or disabled the vault.
    closed: Option<RequestStart>,
    /// The record's key, if this process disabled the vault. Nothing is encrypted with it; it only
    /// allows wrapping the record for a new password later.
    spare: Option<Arc<Dek>>,
}

pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) kdf: KdfQueue,
    /// Derives keys from the passphrases of imported keys, separately so that imports do not delay
    /// logins.
    pub(crate) imports: KdfQueue,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) settings: ArcSwap<SecretsSettings>,
    /// Shared by readers and writers of secrets; exclusive for a vault transition.
    pub(crate) gate: RwLock<()>,
    pub(crate) status: watch::Sender<Status>,
    pub(crate) progress: watch::Sender<Option<Progress>>,
    pub(crate) provider_keys: watch::Sender<()>,
    begins: AtomicU64,
    memory: Mutex<Memory>,
    files: Arc<ProviderFiles>,
    pub(crate) tasks: TaskTracker,
    pub(crate) pauses: Pauses,
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
        };
        Self {
            begins: AtomicU64::new(0),
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

    /// The data key; `None` unless unsealed.
    pub(crate) fn dek(&self) -> Option<Arc<Dek>> {
        self.memory().keyring.dek()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Records the start of a request.
    pub(crate) fn begin(&self) -> RequestStart {
        RequestStart(self.begins.fetch_add(1, Ordering::SeqCst))
    }

    /// Takes the gate for a transition that is ready to take effect.
    pub(crate) async fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.pauses.point().await;
        self.gate.write().await
    }

    /// Takes the gate for a transition that loads a key or disables the vault. Fails if a request
    /// that started later sealed, enabled or disabled the vault.
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

    /// The last observed database state, the status and the data key.
    pub(crate) fn known(&self) -> (Seen, Status, Option<Arc<Dek>>) {
        let memory = self.memory();
        (
            memory.seen.clone(),
            memory.keyring.status(),
            memory.keyring.dek(),
        )
    }

    /// Runs work to completion even if the caller is dropped: nothing may interrupt it between a
    /// commit and the matching change in memory.
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

    /// Runs work on the provider key files on a blocking thread.
    pub(crate) async fn on_files<T, F>(&self, work: F) -> Result<T, FileError>
    where
        T: Send + 'static,
        F: FnOnce(&ProviderFiles) -> Result<T, FileError> + Send + 'static,
    {
        let files = Arc::clone(&self.files);
        let job = self.tasks.spawn_blocking(move || work(&files));
        job.await.unwrap_or(Err(FileError::TaskAborted))
    }

    pub(crate) async fn read_seen(&self) -> Result<(Seen, Option<VaultRecord>), StoreError> {
        let settings = self.settings.load_full();
        let read = self
            .store
            .read(move |conn| Box::pin(async move { Seen::read(conn, &settings).await }));
        read.await
    }

    /// Returns `Changed` unless the database still has the state that was read before. Called
    /// inside the writing transaction.
    pub(crate) async fn require_unchanged(
        &self,
        conn: &mut Conn,
        known: &Seen,
    ) -> Result<(), VaultError> {
        let settings = self.settings.load_full();
        let (seen, _) = Seen::read(conn, &settings).await?;
        if seen == *known {
            Ok(())
        } else {
            Err(VaultError::Changed)
        }
    }

    /// Returns a view of database and memory, after bringing memory up to date.
    pub(crate) async fn view(&self) -> Result<View, VaultError> {
        let shared = self.gate.read().await;
        let (seen, record) = self.read_seen().await?;
        if let Some(view) = self.view_if_known(&seen, record) {
            return Ok(view);
        }
        drop(shared);
        let _alone = self.gate.write().await;
        self.view_alone().await
    }

    /// The same for a transition that holds the gate. Returns `Changed` if the vault has changed.
    pub(crate) async fn view_unchanged(&self, before: &Seen) -> Result<View, VaultError> {
        let view = self.view_alone().await?;
        if view.seen == *before {
            Ok(view)
        } else {
            Err(VaultError::Changed)
        }
    }

    /// The same for a transition that already holds the gate.
    pub(crate) async fn view_alone(&self) -> Result<View, VaultError> {
        let (seen, record) = self.read_seen().await?;
        self.observe(seen.clone());
        self.view_if_known(&seen, record)
            .ok_or(VaultError::TaskAborted)
    }

    fn view_if_known(&self, seen: &Seen, record: Option<VaultRecord>) -> Option<View> {
        let memory = self.memory();
        (memory.seen == *seen).then(|| View {
            seen: seen.clone(),
            record,
            status: memory.keyring.status(),
            dek: memory.keyring.dek(),
            spare: memory.spare.clone(),
        })
    }

    /// Applies the state of the database. Drops a key that is no longer the record's.
    pub(crate) fn observe(&self, seen: Seen) {
        let status = {
            let mut memory = self.memory();
            let before = memory.keyring.status();
            let dek_id = seen.dek_id.as_deref();
            let status = memory.keyring.observed(seen.record, seen.disabled, dek_id);
            if (memory.spare.as_deref().map(|dek| dek.id().as_str())) != dek_id || !seen.disabled {
                memory.spare = None;
            }
            if before != status {
                tracing::info!(%before, %status, "the vault was changed by another process");
            }
            memory.seen = seen;
            status
        };
        self.publish(status);
    }

    /// Loads the key of a record that is in the database: unsealed.
    pub(crate) fn hold(&self, dek: &Arc<Dek>, generation: i64) -> Result<Status, VaultError> {
        let status = {
            let mut memory = self.memory();
            memory.seen = Seen {
                record: RecordState::Present,
                dek_id: Some(dek.id().to_string()),
                disabled: false,
                generation,
            };
            memory.spare = None;
            let id = dek.id().as_str();
            memory
                .keyring
                .observed(RecordState::Present, false, Some(id));
            memory
                .keyring
                .unsealed(Arc::clone(dek))
                .map_err(|_| VaultError::TaskAborted)?
        };
        self.publish(status);
        Ok(status)
    }

    /// Drops the key. No request that started earlier brings it back.
    pub(crate) fn forget(&self, began: RequestStart) -> Result<Status, VaultError> {
        let status = {
            let mut memory = self.memory();
            memory.closed = memory.closed.max(Some(began));
            memory.keyring.sealed()
        };
        let status = status.map_err(|_| VaultError::TaskAborted)?;
        self.publish(status);
        Ok(status)
    }

    /// The record was replaced; the data key is unchanged.
    pub(crate) fn rewrapped(&self, generation: i64) {
        self.memory().seen.generation = generation;
    }

    /// Applies a new value of the flag. `spare` is the record's key, if known.
    pub(crate) fn switched(
        &self,
        began: RequestStart,
        (enabled, generation): (bool, i64),
        spare: Option<Arc<Dek>>,
    ) -> Status {
        let status = {
            let mut memory = self.memory();
            if memory.seen.disabled == enabled {
                memory.closed = memory.closed.max(Some(began));
            }
            memory.seen.disabled = !enabled;
            memory.seen.generation = generation;
            let seen = memory.seen.clone();
            memory.spare = spare;
            memory
                .keyring
                .observed(seen.record, seen.disabled, seen.dek_id.as_deref())
        };
        self.publish(status);
        status
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

/// A task ended before its work was complete.
pub(crate) struct TaskAborted;

impl From<TaskAborted> for VaultError {
    fn from(_: TaskAborted) -> Self {
        Self::TaskAborted
    }
}

impl From<TaskAborted> for crate::SecretsError {
    fn from(_: TaskAborted) -> Self {
        Self::TaskAborted
    }
}
