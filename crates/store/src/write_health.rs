//! Tracks whether the database accepts writes. A failed write counts until a trial write succeeds.

use crate::{Conn, Store, StoreError};
use gatehouse_domain::Timestamp;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The key of the row for trial writes, in the table `settings`.
const KEY: &str = "write_probe";
/// The size of a typical delivery. A smaller trial could succeed on a full disk, which may still accept a few
/// bytes.
const TRIAL_BYTES: usize = 256 * 1024;

/// Number of refused writes: in total, and at the last successful trial.
#[derive(Debug, Default)]
struct Failures {
    all: AtomicU64,
    overcome: AtomicU64,
}

/// Shared by the writers of a process.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteHealth(Arc<Failures>);

impl WriteHealth {
    /// Counts the failure if its cause is the database.
    pub(crate) fn note(&self, error: &StoreError) {
        if matches!(
            error,
            StoreError::Unavailable(_) | StoreError::NotCommitted(_) | StoreError::FileReplaced
        ) {
            self.note_failure();
        }
    }

    /// Counts a failure of the database.
    pub(crate) fn note_failure(&self) {
        self.0.all.fetch_add(1, Ordering::AcqRel);
    }

    fn has_failed(&self) -> bool {
        self.0.all.load(Ordering::Acquire) > self.0.overcome.load(Ordering::Acquire)
    }
}

impl Store {
    /// Returns whether the database has refused a write, and no [`Self::try_writing`] has succeeded since.
    pub fn has_failed_to_write(&self) -> bool {
        self.writers.health().has_failed()
    }

    /// Writes and deletes a row as a trial.
    pub async fn try_writing(&self) -> Result<(), StoreError> {
        let failures = &self.writers.health().0;
        let before = failures.all.load(Ordering::Acquire);
        let trial = Value::String("0123456789abcdef".repeat(TRIAL_BYTES / 16));
        let written: Result<(), StoreError> = self
            .write(move |conn: &mut Conn| {
                Box::pin(
                    async move { conn.update_setting(KEY, &trial, Timestamp::default()).await },
                )
            })
            .await;
        written?;
        let deleted: Result<bool, StoreError> = self
            .write(|conn| Box::pin(async move { conn.delete_setting(KEY).await }))
            .await;
        deleted?;
        failures.overcome.fetch_max(before, Ordering::AcqRel);
        Ok(())
    }
}
