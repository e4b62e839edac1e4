//! One attempt at a delivery that was claimed: reads what there is to do, has it done, has it written.

use super::{AFTER_ERROR, complain, settle};
use crate::handle::Inner;
use crate::metrics;
use crate::record::Snapshot;
use crate::run::{self, Stops};
use gatehouse_domain::{DeliveryId, DeliveryStatus};
use gatehouse_store::{DeliveryRow, DeliveryWork};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Reads what was claimed, runs it and writes how it ended.
pub(super) async fn run_claimed(
    inner: &Arc<Inner>,
    id: &DeliveryId,
    cancel: CancellationToken,
    house: &CancellationToken,
) {
    let begun_ms = inner.clock.monotonic_ms();
    let read = read_work(inner, id);
    let work = match cancel.run_until_cancelled(read).await {
        Some(Some(work)) => work,
        // It is not ours any longer, or its webhook was deleted.
        Some(None) => return,
        None => return settle::give_back(inner, id).await,
    };
    let running = inner.running(id, &work.webhook_id, cancel);
    // A webhook that was deleted before the run was in that list is seen here, and later ones cancel.
    let Some(row) = visible(inner, id).await else {
        return settle::give_back(inner, id).await;
    };
    let Some(snapshot) = work
        .config
        .as_deref()
        .and_then(|text| serde_json::from_str::<Snapshot>(text).ok())
    else {
        let why = "The stored configuration of this delivery cannot be read.".to_owned();
        let outcome = run::Outcome::Failed(run::Trace::default(), why);
        return settle::settle(inner, &work, "", outcome, begun_ms).await;
    };
    metrics::delivery(
        &snapshot.public_id,
        DeliveryStatus::Processing,
        work.event_type.as_deref(),
    );
    inner.publish(row);
    let stops = Stops {
        run: &running.cancel,
        house,
    };
    let outcome = run::run(inner, &work, &snapshot, stops).await;
    settle::settle(inner, &work, &snapshot.public_id, outcome, begun_ms).await;
}

/// Tries until the database answers.
async fn read_work(inner: &Inner, id: &DeliveryId) -> Option<DeliveryWork> {
    loop {
        let (wanted, owner) = (id.clone(), inner.node.clone());
        let work = inner.store.read(move |conn| {
            Box::pin(async move { conn.find_delivery_work(&wanted, &owner).await })
        });
        match work.await {
            Ok(work) => return work,
            Err(error) => complain(&error),
        }
        tokio::time::sleep(AFTER_ERROR).await;
    }
}

/// The delivery, unless its webhook was deleted. A database that does not answer hides nothing.
async fn visible(inner: &Inner, id: &DeliveryId) -> Option<DeliveryRow> {
    loop {
        let wanted = id.clone();
        let row = inner
            .store
            .read(move |conn| Box::pin(async move { conn.find_delivery(wanted.as_str()).await }));
        match row.await {
            Ok(row) => return row,
            Err(error) => complain(&error),
        }
        tokio::time::sleep(AFTER_ERROR).await;
    }
}
