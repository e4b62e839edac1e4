//! Copies the write-ahead log of SQLite into the database on a thread of its own, so that commits do not wait for
//! it. The log starts again from its beginning only when all of it was copied and no commit came in between. Under
//! a steady load, the writer therefore copies the rest itself when the log reaches the limit of
//! `wal_autocheckpoint`.

use crate::StoreError;
use crate::conn::Raw;
use crate::open::Source;
use crate::sqlite;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, MutexGuard};

/// The time from a commit to the copy, which further commits share.
const DELAY: Duration = Duration::from_millis(20);
/// Copies as much as possible without waiting for readers or the writer.
const PASSIVE: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// A handle to the thread. Dropping it waits until the thread has ended.
pub(crate) struct Checkpointer {
    commits: Option<SyncSender<()>>,
    /// Locked during a checkpoint: SQLite refuses a second one at the same time.
    running: Arc<Mutex<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    pub(crate) fn start(source: Source) -> Self {
        let (commits, committed) = sync_channel(1);
        let running = Arc::new(Mutex::new(()));
        let turn = Arc::clone(&running);
        let thread = std::thread::spawn(move || serve(&source, &committed, &turn));
        Self {
            commits: Some(commits),
            running,
            thread: Some(thread),
        }
    }

    /// Reports a commit.
    pub(crate) fn committed(&self) {
        if let Some(commits) = &self.commits {
            // If the channel is full, the thread has not yet seen an earlier commit.
            let _ = commits.try_send(());
        }
    }

    /// Waits for the current checkpoint and prevents further ones.
    pub(crate) async fn pause(&self) -> MutexGuard<'_, ()> {
        self.running.lock().await
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.commits = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn serve(source: &Source, committed: &Receiver<()>, turn: &Mutex<()>) {
    let mut conn = None;
    while committed.recv().is_ok() {
        if !wait_for_more(committed) {
            return;
        }
        let _turn = turn.blocking_lock();
        if let Err(error) = copy(source, &mut conn) {
            // The writer copies the log when it reaches its limit.
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the write-ahead log could not be copied"
            );
            conn = None;
        }
    }
}

/// Waits for [`DELAY`]. Returns false if the writer has ended.
fn wait_for_more(committed: &Receiver<()>) -> bool {
    let until = Instant::now() + DELAY;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match committed.recv_timeout(left) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}

fn copy(source: &Source, conn: &mut Option<rusqlite::Connection>) -> Result<(), StoreError> {
    let db = match conn {
        Some(db) => db,
        None => match source.connect_sqlite()?.raw {
            Raw::Sqlite(db) => conn.insert(db),
            Raw::Postgres(_) => return Ok(()),
        },
    };
    sqlite::plain(db, PASSIVE)
}
