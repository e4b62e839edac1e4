//! Runs one attempt of a claimed delivery.

use super::slots::{Attempt, Slot};
use super::{AFTER_ERROR, complain};
use crate::handle::Inner;
use crate::metrics;
use crate::run::{self, Outcome, Stops, Trace};
use crate::trace;
use gatehouse_domain::{DeliveryId, DeliveryStatus, Fence};
use gatehouse_store::{DeliveryRow, DeliveryWork};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// An ended attempt. Dropping it frees the slot.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) attempt: Attempt,
    /// The row at the time of the claim.
    pub(super) row: DeliveryRow,
    pub(super) outcome: Outcome,
    pub(super) took: Duration,
    /// The account that the delivery was sent with; `None` for local accounts and agent turns.
    pub(super) account: Option<Arc<str>>,
    pub(super) slot: Slot,
}

/// A claimed delivery with its resources.
pub(super) struct Start {
    pub(super) work: DeliveryWork,
    pub(super) account: Option<Arc<str>>,
    pub(super) slot: Slot,
    pub(super) cancel: CancellationToken,
}

/// Runs a claimed delivery.
pub(super) async fn run_claimed(
    inner: &Arc<Inner>,
    start: Start,
    house: &CancellationToken,
) -> Ended {
    let begun_ms = inner.clock.monotonic_ms();
    let span = trace::attempt(inner, &start.work.row);
    let outcome = span.run(run(inner, &start, house)).await;
    let outcome = if Fence::current().has_refused() {
        outcome.without_lease(start.cancel.is_cancelled())
    } else {
        outcome
    };
    trace::ended(span, &outcome);
    let row = start.work.row;
    Ended {
        attempt: (row.id.clone(), row.attempts),
        row,
        outcome,
        took: Duration::from_millis(inner.clock.monotonic_ms().saturating_sub(begun_ms)),
        account: start.account,
        slot: start.slot,
    }
}

async fn run(inner: &Arc<Inner>, start: &Start, house: &CancellationToken) -> Outcome {
    let work = &start.work;
    let running = inner.running(&work.row.id, &work.row.webhook_id, start.cancel.clone());
    // Detects a webhook that was deleted before this run was registered. Later deletions cancel the run.
    if inner.live.find_by_id(&work.row.webhook_id).is_none() && is_gone(inner, &work.row.id).await {
        return Outcome::Interrupted { began: false };
    }
    let config = work.config.as_deref();
    let Some(snapshot) = config.and_then(|text| inner.snapshots.get(text)) else {
        let why = "The stored configuration of this delivery cannot be read.".to_owned();
        return Outcome::Failed(Trace::default(), why);
    };
    let is_for_agent = work.row.target.as_deref() == Some("");
    if running.cancel.is_cancelled() || is_for_agent && is_overtaken(inner, &work.row).await {
        return Outcome::Interrupted { began: false };
    }
    metrics::delivery(
        &work.row.webhook_id,
        DeliveryStatus::Processing,
        work.row.event_type.as_deref(),
    );
    inner.publish(&work.row);
    let stops = Stops {
        run: &running.cancel,
        house,
    };
    run::run(inner, work, &snapshot, stops).await
}

/// Returns whether this attempt has lost its lease because this node was suspended after the claim. A delivery must
/// not run twice at the same time, or after later deliveries of its session.
async fn is_overtaken(inner: &Inner, row: &DeliveryRow) -> bool {
    if !inner.store.engine().is_shared() {
        return false;
    }
    let id = row.id.clone();
    let read = inner
        .queue
        .read(move |conn| Box::pin(async move { conn.find_delivery(id.as_str()).await }));
    match read.await {
        Ok(now) => now.is_none_or(|now| {
            now.attempts != row.attempts || now.status != DeliveryStatus::Processing
        }),
        // If this read fails, storing the turn will also fail.
        Err(_) => false,
    }
}

/// Returns whether the delivery no longer exists or its webhook was deleted. Retries until the database
/// responds.
async fn is_gone(inner: &Inner, id: &DeliveryId) -> bool {
    loop {
        let wanted = id.clone();
        let row = inner
            .queue
            .read(move |conn| Box::pin(async move { conn.find_delivery(wanted.as_str()).await }));
        match row.await {
            Ok(row) => return row.is_none(),
            Err(error) => complain(&error),
        }
        tokio::time::sleep(AFTER_ERROR).await;
    }
}
