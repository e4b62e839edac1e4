//! Backups that are sent to the caller while they are created. Nothing is stored on the server.

use super::{Begun, failed, turn_of};
use crate::{Services, to_problem};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use gatehouse_auth::audit::{Concluded, kinds};
use gatehouse_backup::age::Recipient;
use gatehouse_backup::{BackupError, create, folder};
use gatehouse_domain::{Actor, Problem};
use serde_json::{Map, json};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

const PIECE_BYTES: usize = 64 * 1024;
/// The capacity, in pieces, of each of the two channels to the client.
const WAITING: usize = 2;
/// Maximum time for the client to read one piece. After this time, the backup is aborted, because its snapshot
/// prevents the database from removing old pages.
const STALLED: Duration = Duration::from_mins(1);
/// Maximum time for the client to read all pieces.
const LONGEST: Duration = Duration::from_hours(6);
/// The name in the audit log for a download that did not finish.
const INCOMPLETE: &str = "INCOMPLETE";

/// A backup that is being streamed.
pub struct StreamedBackup {
    /// The name of its file.
    pub name: String,
    /// The bytes of the backup. The backup is complete if they end without an error.
    pub pieces: BoxStream<'static, io::Result<Bytes>>,
}

impl std::fmt::Debug for StreamedBackup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamedBackup")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Collects written bytes into pieces.
struct Pieces {
    to: SyncSender<Bytes>,
    piece: Vec<u8>,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let piece = std::mem::take(&mut self.piece).into();
        let gone = |_| io::Error::new(io::ErrorKind::BrokenPipe, "the client is gone or stalled");
        self.to.send(piece).map_err(gone)
    }
}

/// Timeouts for the client.
#[derive(Clone, Copy)]
struct Patience {
    piece: Duration,
    all: Duration,
}

/// Forwards pieces to the client, on a thread that may block. Returns whether the client took all of them in time.
fn forward(
    runtime: &Handle,
    from: &Receiver<Bytes>,
    to: &mpsc::Sender<Bytes>,
    patience: Patience,
) -> bool {
    let began = Instant::now();
    while let Ok(piece) = from.recv() {
        let left = patience.all.saturating_sub(began.elapsed());
        if left.is_zero() {
            return false;
        }
        let wait = patience.piece.min(left);
        let sent = runtime.block_on(async { tokio::time::timeout(wait, to.send(piece)).await });
        if !matches!(sent, Ok(Ok(()))) {
            return false;
        }
    }
    true
}

/// Returns the pieces, followed by an error unless `complete` is signaled.
fn until_complete(
    pieces: mpsc::Receiver<Bytes>,
    complete: oneshot::Receiver<()>,
) -> BoxStream<'static, io::Result<Bytes>> {
    let state = Some((pieces, complete));
    let next = |state: Option<(mpsc::Receiver<Bytes>, oneshot::Receiver<()>)>| async move {
        let (mut pieces, complete) = state?;
        if let Some(piece) = pieces.recv().await {
            return Some((Ok(piece), Some((pieces, complete))));
        }
        let incomplete = complete.await.err()?;
        Some((Err(io::Error::other(incomplete)), None))
    };
    stream::unfold(state, next).boxed()
}

impl Services {
    /// Creates a backup for the caller. By default, uses the recipient of the settings, if any. Sends one backup at
    /// a time. Records the backup in the audit log before sending the first byte.
    pub async fn stream_backup(
        &self,
        actor: &Actor,
        recipient: Option<Recipient>,
    ) -> Result<StreamedBackup, Problem> {
        self.ensure_own_database().await?;
        let now = self.clock.now();
        let turn = turn_of(&self.backup_stream)?;
        let begun = self.begin_backup(turn, recipient, now)?;
        let name = folder::file_name(now, begun.recipient.is_some());
        let mut detail = Map::new();
        detail.insert("name".to_owned(), json!(name));
        let intent = self.auth.intend(kinds::BACKUP_DOWNLOADED, actor, detail);
        self.auth.begin_change(&intent).await.map_err(to_problem)?;

        let (made, pieces) = sync_channel(WAITING);
        let (to_client, received) = mpsc::channel(WAITING);
        let (completed, complete) = oneshot::channel();
        let (runtime, handle) = (Handle::current(), Handle::current());
        let patience = Patience {
            piece: STALLED,
            all: LONGEST,
        };
        let forward = move || forward(&handle, &pieces, &to_client, patience);
        let forwarded = tokio::task::spawn_blocking(forward);
        let (auth, random) = (self.auth.clone(), Arc::clone(&self.random));
        tokio::task::spawn_blocking(move || {
            let Begun {
                turn,
                recipient,
                source,
            } = begun;
            let to = Pieces {
                to: made,
                piece: Vec::new(),
            };
            let created = create(to, &source, recipient.as_ref(), &*random, |_, _| {});
            let created: Result<_, BackupError> = runtime.block_on(created);
            drop(turn);
            runtime.block_on(async move {
                let is_forwarded = forwarded.await.unwrap_or(false);
                let ended = match created {
                    Ok(created) if is_forwarded => {
                        if completed.send(()).is_err() {
                            tracing::debug!("the client disconnected after the last byte");
                        }
                        let mut more = Map::new();
                        more.insert("bytes".to_owned(), json!(created.bytes));
                        more.insert("rows".to_owned(), json!(created.manifest.rows()));
                        Concluded::Done(more)
                    }
                    Ok(_) => Concluded::Failed(INCOMPLETE),
                    Err(error) => {
                        let reason = failed(error).message;
                        tracing::warn!(%reason, "a backup was not sent completely");
                        Concluded::Failed(INCOMPLETE)
                    }
                };
                auth.conclude(intent, ended).await;
            });
        });
        Ok(StreamedBackup {
            name,
            pieces: until_complete(received, complete),
        })
    }
}

#[cfg(test)]
mod tests;
