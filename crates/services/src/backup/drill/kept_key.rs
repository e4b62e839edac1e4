//! The key of the last encrypted backup that this process created. It is kept in memory until the trial restore,
//! and is used at most once.

use crate::Services;
use gatehouse_backup::age::FileKey;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The kept key, if there is one.
#[derive(Debug, Default)]
pub(super) struct KeptKey {
    kept: Mutex<Option<KeyOf>>,
    is_new: Notify,
}

/// The key of a backup.
#[derive(Debug)]
pub(super) struct KeyOf {
    /// The name of the file.
    pub(super) name: String,
    pub(super) key: FileKey,
}

impl KeptKey {
    fn kept(&self) -> MutexGuard<'_, Option<KeyOf>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the kept key.
    fn keep(&self, name: String, key: FileKey) {
        *self.kept() = Some(KeyOf { name, key });
        self.is_new.notify_one();
    }

    /// Removes the kept key and returns it.
    pub(super) fn take(&self) -> Option<KeyOf> {
        self.kept().take()
    }

    /// Waits until a key is kept, or returns immediately if one was kept since the last call.
    pub(super) async fn wait(&self) {
        self.is_new.notified().await;
    }
}

impl Services {
    /// Keeps the key of a new backup, and starts its trial restore. If trial restores are turned off, drops the
    /// key.
    pub(in crate::backup) fn keep_key(&self, name: &str, key: FileKey) {
        if self.drill_days().is_some() {
            self.drills.kept_key.keep(name.to_owned(), key);
        }
    }
}
