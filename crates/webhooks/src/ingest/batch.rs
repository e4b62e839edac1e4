//! Group writes of deliveries. Deliveries that arrive during a write are stored together by the next one,
//! with one statement and one commit. Each sender gets its response after the commit.
//!
//! There are separate queues, so accepted deliveries do not wait behind others. Filtered deliveries and
//! duplicates come from verified senders and share a queue. Refusals are best effort: they are written in
//! small batches with a pause after each, because all writes may share one writer with accepted deliveries.
//! If their queue is full, they are counted and dropped.

use super::gather::{Bounds, Gather};
use super::repeat::{self, Repeat};
use crate::changes::{Changed, Changes};
use crate::delivery::DeliveryChange;
use crate::limits::Reservation;
use crate::metrics;
use crate::worker::blocked::WorkerSignal;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use gatehouse_domain::{DeliveryId, Timestamp, WebhookId};
use gatehouse_store::{Conn, NewDelivery, Store, StoreError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::TaskTracker;

/// Maximum number of deliveries per write.
const BATCH: usize = 256;
/// Maximum size of the deliveries of a write in bytes; a larger delivery is written alone. PostgreSQL gets all of them
/// before it answers the first, and the store waits 12 seconds for an answer: a link of 10 Mbit/s carries 8 MiB in 7.
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
    /// Size of the columns to write in bytes, without the short ones.
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

/// Takes at most `count` deliveries at a time from a queue.
const fn gather(inbox: mpsc::Receiver<Waiting>, count: usize) -> Gather<Waiting> {
    let bounds = Bounds {
        count,
        bytes: BATCH_BYTES,
    };
    Gather::new(inbox, bounds, Waiting::size)
}

/// The consumer of one queue.
struct Line {
    store: Store,
    changes: Arc<Changes>,
    /// Set for the queue of accepted deliveries.
    worker: Option<WorkerSignal>,
    /// Maximum number of concurrent writes. With two, the next batch is ready when the current one commits.
    writes_at_once: usize,
    /// The pause after a write.
    pause: Option<Duration>,
}

impl Line {
    async fn serve(self, mut inbox: Gather<Waiting>) {
        let mut under_way = FuturesUnordered::new();
        loop {
            tokio::select! {
                biased;
                Some(()) = under_way.next() => {}
                waiting = inbox.next(), if under_way.len() < self.writes_at_once => {
                    if waiting.is_empty() {
                        break;
                    }
                    under_way.push(self.write_and_pause(waiting));
                }
            }
        }
        under_way.collect::<()>().await;
    }

    async fn write_and_pause(&self, waiting: Vec<Waiting>) {
        self.write(waiting).await;
        if let Some(pause) = self.pause {
            tokio::time::sleep(pause).await;
        }
    }

    async fn write(&self, waiting: Vec<Waiting>) {
        let mut batch = Batch::default();
        let mut senders = Vec::with_capacity(waiting.len());
        for one in waiting {
            batch.push(one.entry);
            senders.push((one.place, one.answer));
        }
        let batch = Arc::new(batch);
        match self.write_rows(Arc::clone(&batch)).await {
            Ok(stored) => self.answer(&batch.rows, senders, stored),
            // One invalid row must not fail the others, so each is written separately. This also resolves a
            // deadlock with another node that stores the same deliveries in a different order.
            Err(error)
                if batch.rows.len() > 1
                    && (!error.is_unavailable() || matches!(error, StoreError::Deadlock(_))) =>
            {
                for (alone, sender) in batch.split().zip(senders) {
                    let alone = Arc::new(alone);
                    match self.write_rows(Arc::clone(&alone)).await {
                        Ok(stored) => self.answer(&alone.rows, vec![sender], stored),
                        Err(error) => refuse(vec![sender], &error),
                    }
                }
            }
            Err(error) => refuse(senders, &error),
        }
    }

    async fn write_rows(&self, batch: Arc<Batch>) -> Result<Vec<Stored>, StoreError> {
        let counts = self.worker.is_some();
        self.store
            .write_arrivals(move |conn| {
                Box::pin(async move { write_rows(conn, &batch, counts).await })
            })
            .await
    }

    fn answer(&self, rows: &[NewDelivery], senders: Vec<Sender>, stored: Vec<Stored>) {
        // The worker is notified before the senders: tokio runs the task that was woken last at once, and that should
        // be a sender.
        if let Some(worker) = &self.worker {
            worker.stored(rows.iter().map(|row| {
                let target = row.target.as_deref().unwrap_or_default();
                (&row.webhook_id, target)
            }));
        }
        for ((row, (place, answer)), stored) in rows.iter().zip(senders).zip(stored) {
            let first = match &stored {
                Stored::New => Some(row.replay_of.clone()),
                Stored::Again(first) => Some(Some(first.clone())),
                Stored::Duplicate(_) => None,
            };
            match first {
                Some(replay_of) => {
                    if let Some(place) = place {
                        place.keep();
                    }
                    let changed = Changed {
                        id: &row.id,
                        webhook_id: &row.webhook_id,
                        status: row.status,
                        error: row.error.as_deref(),
                    };
                    self.changes.publish(&changed, || DeliveryChange {
                        replay_of,
                        ..row.into()
                    });
                }
                None => drop(place),
            }
            if let Some(answer) = answer {
                // The sender may have disconnected; the delivery is stored nevertheless.
                drop(answer.send(Ok(stored)));
            }
        }
    }
}

/// Reports an error to all senders and releases their permits. The batch may or may not have been stored.
fn refuse(senders: Vec<Sender>, error: &StoreError) {
    tracing::error!(
        error = error as &dyn std::error::Error,
        count = senders.len(),
        "webhook deliveries could not be stored"
    );
    for (place, answer) in senders {
        drop(place);
        if let Some(answer) = answer {
            drop(answer.send(Err(error.for_caller())));
        }
    }
}

async fn write_rows(
    conn: &mut Conn,
    batch: &Batch,
    counts: bool,
) -> Result<Vec<Stored>, StoreError> {
    let is_new = conn.insert_deliveries(&batch.rows).await?;
    let mut outcome = Vec::with_capacity(batch.rows.len());
    let mut counted: BTreeMap<&WebhookId, (i64, Timestamp)> = BTreeMap::new();
    for ((row, redeliver), is_new) in batch.rows.iter().zip(&batch.redeliver).zip(is_new) {
        let stored = if is_new {
            Stored::New
        } else {
            store_known(conn, row, *redeliver).await?
        };
        if !matches!(stored, Stored::Duplicate(_)) {
            let (more, last) = counted
                .entry(&row.webhook_id)
                .or_insert((0, row.received_at));
            *more += 1;
            *last = (*last).max(row.received_at);
        }
        outcome.push(stored);
    }
    if counts {
        for (webhook, (more, last)) in counted {
            conn.update_webhook_counts(webhook, more, last)?;
        }
    }
    Ok(outcome)
}

/// Stores a delivery whose key or bytes already exist as a redelivery, or reports it as a duplicate.
async fn store_known(
    conn: &mut Conn,
    row: &NewDelivery,
    redeliver: bool,
) -> Result<Stored, StoreError> {
    let keys = repeat::Keys::of(row);
    match repeat::judge(conn, &keys, redeliver).await? {
        Repeat::Of(first) => Ok(Stored::Duplicate(first)),
        Repeat::MayRunAgain {
            first,
            number,
            has_new_bytes,
        } => {
            let again = NewDelivery {
                unique_key: None,
                bytes_key: row.bytes_key.clone().filter(|_| has_new_bytes),
                replay_of: Some(first.clone()),
                redelivery: Some(number),
                ..row.clone()
            };
            let stored = conn.insert_deliveries(std::slice::from_ref(&again)).await?;
            if stored.contains(&true) {
                Ok(Stored::Again(first))
            } else {
                Ok(Stored::Duplicate(first))
            }
        }
        // The earlier delivery has been removed since, so this one can be stored.
        Repeat::Unknown => match conn.insert_deliveries(std::slice::from_ref(row)).await? {
            stored if stored.contains(&true) => Ok(Stored::New),
            _ => Err(StoreError::Damaged {
                what: "delivery key",
            }),
        },
    }
}

#[cfg(test)]
mod tests;
