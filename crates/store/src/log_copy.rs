//! Copies SQLite's write-ahead log into the database (a checkpoint) on a thread beside the writer. SQLite itself would do it
//! in the commit that reaches 1,000 pages, and all writes that arrive meanwhile would wait.
//!
//! The log can begin again at its start only when all of it is copied, so the writer copies what was added during the
//! copy. That is little, and keeps the log from growing.

use crate::StoreError;
use crate::sqlite::SqliteFile;
use rusqlite::Connection;
use rusqlite::hooks::Wal;
use std::ffi::c_int;
use std::io;
use std::thread::{Builder, JoinHandle};

/// Sizes of the log, in pages of 4 KiB.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// When a copy begins, and how much is added before the next one if a reader keeps the log from beginning again.
    start: c_int,
    /// When the writer waits for the copy, for example because the disk is slow.
    limit: c_int,
}

const BOUNDS: Bounds = Bounds {
    start: 2_000,
    limit: 16_000,
};
/// The thread needs no more than the default of a connection, but its copies must be as durable as the writer's.
const PRAGMAS: &str = "PRAGMA synchronous = FULL";

/// Copies the log of this connection beside its writes from now on.
pub(crate) fn start(db: &mut Connection, file: &SqliteFile) -> Result<(), StoreError> {
    start_within(db, file, BOUNDS)
}

fn start_within(db: &mut Connection, file: &SqliteFile, bounds: Bounds) -> Result<(), StoreError> {
    let mut copier = Copier {
        file: file.clone(),
        bounds,
        running: None,
        pages: 0,
        next: bounds.start,
    };
    db.wal_hook(Some(move |log: &mut Wal, pages| {
        copier.after_commit(log, pages);
        // An error would be reported as one of the commit, which has succeeded.
        Ok(())
    }))?;
    Ok(())
}

struct Copier {
    file: SqliteFile,
    bounds: Bounds,
    running: Option<JoinHandle<()>>,
    /// Pages in the log after the last commit.
    pages: c_int,
    /// The number of pages at which the next copy begins.
    next: c_int,
}

impl Copier {
    fn after_commit(&mut self, log: &mut Wal, pages: c_int) {
        if pages < self.pages {
            self.next = self.bounds.start;
        }
        self.pages = pages;
        match &self.running {
            Some(running) if !running.is_finished() && pages < self.bounds.limit => {}
            Some(_) => {
                self.wait();
                self.finish(log);
            }
            None if pages >= self.next => match self.spawn() {
                Ok(running) => self.running = Some(running),
                Err(error) => {
                    tracing::debug!(%error, "no thread for a checkpoint");
                    self.finish(log);
                }
            },
            None => {}
        }
    }

    /// Copies the rest of the log. What readers still need stays for the next copy.
    fn finish(&mut self, log: &mut Wal) {
        note(log.checkpoint());
        self.next = self.pages.saturating_add(self.bounds.start);
    }

    fn spawn(&self) -> io::Result<JoinHandle<()>> {
        let file = self.file.clone();
        let copy = move || match file.open(PRAGMAS) {
            Ok(db) => note(db.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()))),
            Err(error) => tracing::debug!(%error, "no connection for a checkpoint"),
        };
        Builder::new().name("checkpoint".to_owned()).spawn(copy)
    }

    fn wait(&mut self) {
        if let Some(running) = self.running.take() {
            // A panic was already reported; the rest of the log is copied by the writer.
            drop(running.join());
        }
    }
}

impl Drop for Copier {
    /// The last connection that is closed removes the log, so the thread's must be closed before.
    fn drop(&mut self) {
        self.wait();
    }
}

/// A failed checkpoint loses nothing: the log keeps its content.
fn note(copied: rusqlite::Result<()>) {
    if let Err(error) = copied {
        tracing::debug!(%error, "a checkpoint failed");
    }
}

#[cfg(test)]
mod tests;
