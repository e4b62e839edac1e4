//! Batches: what arrives while one write is under way is stored together by the next, in one statement
//! and one commit, and each sender is answered after it. Two lines: deliveries for the worker, and
//! refused ones, for which mostly nobody waits and which never hold up the others.

use crate::delivery::Delivery;
use crate::handle::publish;
use crate::limits::Reservation;
use gatehouse_domain::{DeliveryId, Timestamp, WebhookId};
use gatehouse_store::{NewDelivery, Store, StoreError};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{Notify, broadcast, mpsc, oneshot};
use tokio_util::task::TaskTracker;

/// How many deliveries one write stores at most.
const BATCH: usize = 256;
/// How many may wait for the next write; a sender beyond that waits to be let in.
const WAITING: usize = 1024;

/// What became of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    /// It is on disk.
    New,
    /// An earlier one with the same key is.
    Duplicate(DeliveryId),
}

type Answer = oneshot::Sender<Result<Stored, StoreError>>;

/// What is owed to a sender: its place under the limits, and an answer.
type Sender = (Option<Reservation>, Option<Answer>);

struct Waiting {
    row: NewDelivery,
    place: Option<Reservation>,
    answer: Option<Answer>,
}

impl Waiting {
    fn split(self) -> (NewDelivery, Sender) {
        (self.row, (self.place, self.answer))
    }
}

/// Where deliveries are handed in.
#[derive(Clone, Debug)]
pub(crate) struct Batches {
    accepted: mpsc::Sender<Waiting>,
    refused: mpsc::Sender<Waiting>,
}

fn stopped() -> StoreError {
    StoreError::NotCommitted("webhooks are closed".to_owned())
}

async fn hand_in(
    line: &mpsc::Sender<Waiting>,
    row: NewDelivery,
    place: Option<Reservation>,
) -> Result<Stored, StoreError> {
    let (answer, stored) = oneshot::channel();
    let waiting = Waiting {
        row,
        place,
        answer: Some(answer),
    };
    line.send(waiting).await.map_err(|_| stopped())?;
    stored.await.unwrap_or_else(|_| Err(stopped()))
}

impl Batches {
    /// Starts both lines. They end when the last handle is dropped.
    pub(crate) fn start(
        store: &Store,
        events: &broadcast::Sender<Arc<Delivery>>,
        wake: &Arc<Notify>,
        tasks: &TaskTracker,
    ) -> Self {
        let (accepted, inbox) = mpsc::channel(WAITING);
        let (refused, refused_inbox) = mpsc::channel(WAITING);
        let line = |wake| Line {
            store: store.clone(),
            events: events.clone(),
            wake,
        };
        tasks.spawn(line(Some(Arc::clone(wake))).serve(inbox));
        tasks.spawn(line(None).serve(refused_inbox));
        Self { accepted, refused }
    }

    /// Stores a delivery for the worker; answers when it is on disk. The place is kept when it is new.
    /// It is stored even when the caller goes away meanwhile.
    pub(crate) async fn store(
        &self,
        row: NewDelivery,
        place: Option<Reservation>,
    ) -> Result<Stored, StoreError> {
        hand_in(&self.accepted, row, place).await
    }

    /// Stores a refused delivery; answers when it is on disk.
    pub(crate) async fn store_refused(&self, row: NewDelivery) -> Result<(), StoreError> {
        hand_in(&self.refused, row, None).await.map(drop)
    }

    /// Stores a refused delivery some time, unless there are too many.
    pub(crate) fn note(&self, row: NewDelivery) {
        let waiting = Waiting {
            row,
            place: None,
            answer: None,
        };
        // Full means a flood; what is lost is a row about a refusal.
        drop(self.refused.try_send(waiting));
    }
}

/// One line.
struct Line {
    store: Store,
    events: broadcast::Sender<Arc<Delivery>>,
    /// The worker, where there is something for it.
    wake: Option<Arc<Notify>>,
}

impl Line {
    async fn serve(self, mut inbox: mpsc::Receiver<Waiting>) {
        let mut batch = Vec::with_capacity(BATCH);
        while inbox.recv_many(&mut batch, BATCH).await > 0 {
            self.write(std::mem::take(&mut batch)).await;
        }
    }

    async fn write(&self, batch: Vec<Waiting>) {
        let (rows, senders): (Vec<_>, Vec<_>) = batch.into_iter().map(Waiting::split).unzip();
        let rows = Arc::new(rows);
        match self.write_rows(Arc::clone(&rows)).await {
            Ok(stored) => self.answer(&rows, senders, stored),
            // The database cannot take one of them: that one must not take the others with it.
            Err(error) if rows.len() > 1 && !error.is_unavailable() => {
                for (row, sender) in rows.iter().zip(senders) {
                    let alone = Arc::new(vec![row.clone()]);
                    match self.write_rows(Arc::clone(&alone)).await {
                        Ok(stored) => self.answer(&alone, vec![sender], stored),
                        Err(error) => refuse(vec![sender], &error),
                    }
                }
            }
            Err(error) => refuse(senders, &error),
        }
    }

    async fn write_rows(&self, rows: Arc<Vec<NewDelivery>>) -> Result<Vec<Stored>, StoreError> {
        let counts = self.wake.is_some();
        self.store
            .write(move |conn| Box::pin(async move { write_rows(conn, &rows, counts).await }))
            .await
    }

    fn answer(&self, rows: &[NewDelivery], senders: Vec<Sender>, stored: Vec<Stored>) {
        for ((row, (place, answer)), stored) in rows.iter().zip(senders).zip(stored) {
            if stored == Stored::New {
                if let Some(place) = place {
                    place.keep();
                }
                publish(&self.events, || row.to_row());
            } else {
                drop(place);
            }
            if let Some(answer) = answer {
                // A sender that has hung up is no error: its delivery stands all the same.
                drop(answer.send(Ok(stored)));
            }
        }
        if let Some(wake) = &self.wake {
            wake.notify_one();
        }
    }
}

/// Nothing of the batch is there: every place goes back, and every sender is told.
fn refuse(senders: Vec<Sender>, error: &StoreError) {
    tracing::error!(
        error = error as &dyn std::error::Error,
        count = senders.len(),
        "webhook deliveries could not be stored"
    );
    for (place, answer) in senders {
        drop(place);
        if let Some(answer) = answer {
            drop(answer.send(Err(StoreError::NotCommitted(error.to_string()))));
        }
    }
}

async fn write_rows(
    conn: &mut gatehouse_store::Conn,
    rows: &[NewDelivery],
    counts: bool,
) -> Result<Vec<Stored>, StoreError> {
    let stored = conn.insert_deliveries(rows).await?;
    let mut outcome = Vec::with_capacity(rows.len());
    let mut counted: BTreeMap<&WebhookId, (i64, Timestamp)> = BTreeMap::new();
    for (row, is_new) in rows.iter().zip(stored) {
        if is_new {
            let (more, last) = counted
                .entry(&row.webhook_id)
                .or_insert((0, row.received_at));
            *more += 1;
            *last = (*last).max(row.received_at);
            outcome.push(Stored::New);
            continue;
        }
        let key = row.unique_key.as_deref().unwrap_or_default();
        let first = conn.find_delivery_by_key(&row.webhook_id, key).await?;
        // Only an earlier one with its key keeps a delivery out.
        outcome.push(Stored::Duplicate(first.ok_or(StoreError::Damaged {
            what: "delivery key",
        })?));
    }
    if counts {
        for (webhook, (more, last)) in counted {
            conn.update_webhook_counts(webhook, more, last).await?;
        }
    }
    Ok(outcome)
}
