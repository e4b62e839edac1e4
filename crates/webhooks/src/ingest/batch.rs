//! Group writes of deliveries. Deliveries that arrive during a write are stored together by the next write, with
//! one statement and one commit. Each sender gets its response after the commit.
//!
//! There are separate queues, so that accepted deliveries do not wait behind others. Filtered deliveries and
//! duplicates come from verified senders and share a queue. Refusals are best effort. They are written in small
//! batches with a pause after each, because they may share the writer with accepted deliveries. If their queue is
//! full, they are counted and dropped.

mod line;

use crate::changes::Changes;
use crate::limits::Reservation;
use crate::metrics;
use crate::worker::blocked::WorkerSignal;
use gatehouse_domain::DeliveryId;
use gatehouse_store::{NewDelivery, Store, StoreError};
use line::{Line, gather};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::TaskTracker;

/// Maximum number of deliveries per write.
const BATCH: usize = 256;
/// Maximum size of the deliveries of a write, in bytes. A larger delivery is written alone. PostgreSQL receives all
/// of them before it answers the first, and the store waits 12 seconds for an answer. A link of 10 Mbit/s transfers
/// 8 MiB in 7 seconds.
const BATCH_BYTES: usize = 8 << 20;
/// Capacity of the queues of accepted and verified deliveries. If one is full, senders wait for space and
/// duplicates are dropped.
const WAITING: usize = 1024;
/// Maximum number of refusals per write.
const REFUSED_BATCH: usize = 16;
/// The pause after a write of refusals.
const REFUSED_PAUSE: Duration = Duration::from_millis(100);
/// Capacity of a queue of refusals. Further refusals are dropped.
const REFUSED_WAITING: usize = 256;

/// The result of storing a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    New,
    /// Stored as a redelivery of this delivery.
    Again(DeliveryId),
    /// Not stored: this delivery has the same key or bytes.
    Duplicate(DeliveryId),
}

type Answer = oneshot::Sender<Result<Stored, StoreError>>;

/// A sender's permit under the rate limits, and its reply channel.
type Sender = (Option<Reservation>, Option<Answer>);

/// A delivery to store.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) row: NewDelivery,
    /// Whether to store it as a redelivery if the earlier delivery with its key failed.
    pub(crate) redeliver: bool,
}

struct Waiting {
    entry: Entry,
    place: Option<Reservation>,
    answer: Option<Answer>,
}

impl Waiting {
    /// Returns the size of the columns to write in bytes, except the short columns.
    fn size(&self) -> usize {
        let row = &self.entry.row;
        let payload = row.payload.as_ref().map_or(0, String::len);
        payload + row.headers.len() + row.body_preview.len()
    }
}

#[derive(Clone, Debug, Default)]
struct Batch {
    rows: Vec<NewDelivery>,
    /// [`Entry::redeliver`] of each row.
    redeliver: Vec<bool>,
}

impl Batch {
    fn push(&mut self, entry: Entry) {
        self.rows.push(entry.row);
        self.redeliver.push(entry.redeliver);
    }

    /// Splits the batch into batches of one row.
    fn split(&self) -> impl Iterator<Item = Self> + '_ {
        let each = self.rows.iter().zip(&self.redeliver);
        each.map(|(row, redeliver)| Self {
            rows: vec![row.clone()],
            redeliver: vec![*redeliver],
        })
    }
}

/// Handles to the queues.
#[derive(Clone, Debug)]
pub(crate) struct Batches {
    accepted: mpsc::Sender<Waiting>,
    verified: mpsc::Sender<Waiting>,
    early: mpsc::Sender<Waiting>,
    refused: mpsc::Sender<Waiting>,
}

fn stopped() -> StoreError {
    StoreError::NotCommitted("webhooks are closed".to_owned())
}

async fn hand_in(
    line: &mpsc::Sender<Waiting>,
    entry: Entry,
    place: Option<Reservation>,
) -> Result<Stored, StoreError> {
    let (answer, stored) = oneshot::channel();
    let waiting = Waiting {
        entry,
        place,
        answer: Some(answer),
    };
    line.send(waiting).await.map_err(|_| stopped())?;
    stored.await.unwrap_or_else(|_| Err(stopped()))
}

/// Queues a row without waiting for the result; drops it if the queue is full.
fn note(line: &mpsc::Sender<Waiting>, row: NewDelivery) {
    let waiting = Waiting {
        entry: Entry {
            row,
            redeliver: false,
        },
        place: None,
        answer: None,
    };
    if line.try_send(waiting).is_err() {
        metrics::refusal_dropped();
    }
}

impl Batches {
    /// Starts a task for each queue. It ends when the last handle is dropped.
    pub(crate) fn start(
        store: &Store,
        changes: &Arc<Changes>,
        worker: &WorkerSignal,
        tasks: &TaskTracker,
    ) -> Self {
        let line = |room, batch, pause: Option<Duration>, worker: Option<&WorkerSignal>| {
            let (sender, inbox) = mpsc::channel(room);
            let line = Line {
                store: store.clone(),
                changes: Arc::clone(changes),
                worker: worker.cloned(),
                writes_at_once: if pause.is_none() { 2 } else { 1 },
                pause,
            };
            tasks.spawn(line.serve(gather(inbox, batch)));
            sender
        };
        Self {
            accepted: line(WAITING, BATCH, None, Some(worker)),
            verified: line(WAITING, BATCH, None, None),
            early: line(REFUSED_WAITING, REFUSED_BATCH, Some(REFUSED_PAUSE), None),
            refused: line(REFUSED_WAITING, REFUSED_BATCH, Some(REFUSED_PAUSE), None),
        }
    }

    /// Stores a delivery for the worker and returns after the commit. Keeps the permit if the delivery is
    /// stored. Dropping the future does not cancel the write.
    pub(crate) async fn store(
        &self,
        entry: Entry,
        place: Option<Reservation>,
    ) -> Result<Stored, StoreError> {
        hand_in(&self.accepted, entry, place).await
    }

    /// Stores a filtered delivery and returns after the commit.
    pub(crate) async fn store_filtered(&self, row: NewDelivery) -> Result<(), StoreError> {
        let entry = Entry {
            row,
            redeliver: false,
        };
        hand_in(&self.verified, entry, None).await.map(drop)
    }

    /// Queues a duplicate, best effort; drops it if the queue is full.
    pub(crate) fn note_duplicate(&self, row: NewDelivery) {
        note(&self.verified, row);
    }

    /// Queues a refusal, best effort; drops it if the queue is full. Refusals before verification have a
    /// separate queue, so a flood of them does not displace records of failed verifications.
    pub(crate) fn note_refusal(&self, row: NewDelivery, is_early: bool) {
        note(if is_early { &self.early } else { &self.refused }, row);
    }
}

#[cfg(test)]
mod tests;
