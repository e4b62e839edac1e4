//! Writes the waiting deliveries of one queue in groups, and answers their callers.

use super::{BATCH_BYTES, Batch, Sender, Stored, Waiting};
use crate::changes::{Changed, Changes};
use crate::delivery::DeliveryChange;
use crate::ingest::gather::{Bounds, Gather};
use crate::ingest::repeat::{self, Repeat};
use crate::worker::blocked::WorkerSignal;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use gatehouse_domain::{Timestamp, WebhookId};
use gatehouse_store::{Conn, NewDelivery, Store, StoreError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Takes at most `count` deliveries at a time from a queue.
pub(super) const fn gather(inbox: mpsc::Receiver<Waiting>, count: usize) -> Gather<Waiting> {
    let bounds = Bounds {
        count,
        bytes: BATCH_BYTES,
    };
    Gather::new(inbox, bounds, Waiting::size)
}

/// The consumer of one queue.
pub(super) struct Line {
    pub(super) store: Store,
    pub(super) changes: Arc<Changes>,
    /// The signal to the worker. `None` except for the queue of accepted deliveries.
    pub(super) worker: Option<WorkerSignal>,
    /// Maximum number of concurrent writes. With two, the next batch is ready when the current one commits.
    pub(super) writes_at_once: usize,
    /// The pause after a write.
    pub(super) pause: Option<Duration>,
}

impl Line {
    pub(super) async fn serve(self, mut inbox: Gather<Waiting>) {
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
            // One invalid row must not fail the others, so each row is written separately. Separate writes also
            // resolve a deadlock with another node that stores the same deliveries in a different order.
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
        // The worker is notified before the senders. Tokio runs the task that was woken last first, and a sender
        // should run first.
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
        // The earlier delivery has been removed in the meantime, so this one can be stored.
        Repeat::Unknown => match conn.insert_deliveries(std::slice::from_ref(row)).await? {
            stored if stored.contains(&true) => Ok(Stored::New),
            _ => Err(StoreError::Damaged {
                what: "delivery key",
            }),
        },
    }
}
