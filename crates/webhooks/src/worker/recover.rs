//! Recovers deliveries that are marked as running or waiting without reason: after a crash, a lost lease, a sealed
//! vault or a deletion. Each delivery is queued again, or fails if it has used up its attempts.

mod release;

use super::slots::Slots;
use super::{backoff, settle};
use crate::handle::Inner;
use crate::metrics;
use gatehouse_domain::{DeliveryId, DeliveryStatus, Timestamp, WebhookId};
use gatehouse_store::{
    Conn, DeliveryFinish, DeliveryRequeue, DeliveryResponse, LeaseRow, StoreError,
};
pub(crate) use release::revive;
pub(super) use release::{release_from_budget, release_from_vault};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of deliveries per write whose target is set.
const UNTARGETED: i64 = 200;

/// Runs at startup. Queues received deliveries. On SQLite, requeues the deliveries that the previous process was
/// running. In a shared database, leases of a previous process cannot be distinguished from leases of other nodes.
/// They expire because they are no longer renewed.
pub(super) async fn at_start(inner: &Arc<Inner>) -> Result<(), StoreError> {
    let now = inner.now();
    inner
        .store
        .write_queue(move |conn| {
            Box::pin(async move { conn.update_received_deliveries(now).await })
        })
        .await?;
    if !inner.store.engine().is_shared() {
        let leases = inner
            .queue
            .read(|conn| Box::pin(async move { conn.list_leases().await }))
            .await?;
        return_lost(inner, leases).await?;
    }
    fill_targets(inner).await?;
    while revive(inner).await? {}
    Ok(())
}

/// Sets the target of deliveries from earlier versions, based on their configuration. If the configuration
/// cannot be parsed, the delivery counts as an agent turn, which fails with an error.
async fn fill_targets(inner: &Arc<Inner>) -> Result<(), StoreError> {
    loop {
        let read = inner.queue.read(|conn| {
            Box::pin(async move { conn.list_untargeted_deliveries(UNTARGETED).await })
        });
        let found = read.await?;
        if found.is_empty() {
            return Ok(());
        }
        let target = |config: &Option<String>| {
            let snapshot = config.as_deref().and_then(|text| inner.snapshots.get(text));
            snapshot.map_or(String::new(), |it| it.config.queue_target().to_owned())
        };
        let each = found.into_iter();
        let targets: Vec<_> = each.map(|it| (target(&it.config), it.id)).collect();
        inner
            .store
            .write_queue(move |conn| {
                Box::pin(async move {
                    for (target, id) in &targets {
                        conn.update_delivery_target(id, target).await?;
                    }
                    Ok::<_, StoreError>(())
                })
            })
            .await?;
    }
}

/// Requeues or fails the deliveries of lost leases, unless a lease was renewed or ended in the meantime.
pub(super) async fn return_lost(
    inner: &Arc<Inner>,
    leases: Vec<LeaseRow>,
) -> Result<(), StoreError> {
    if leases.is_empty() {
        return Ok(());
    }
    let settings = inner.settings.load();
    let max_attempts = i64::from(settings.section.max_attempts.max(1));
    let base = Duration::from_millis(settings.section.retry_base_ms);
    let now = inner.now();
    let of_others = leases.iter().filter(|lease| lease.owner != inner.node);
    let of_others: HashSet<DeliveryId> = of_others.map(|lease| lease.id.clone()).collect();
    // From the second attempt on, this delivery may have caused the crash. The delay lets other deliveries finish
    // first.
    let plans: Vec<(LeaseRow, Timestamp)> = leases
        .into_iter()
        .map(|lease| {
            let wait = match lease.attempts {
                ..=1 => Duration::ZERO,
                more => backoff::wait(base, more - 1, None, inner.random.as_ref()),
            };
            (lease, now.after(wait))
        })
        .collect();
    let returned = inner
        .store
        .write_queue(move |conn| {
            Box::pin(async move { return_each(conn, plans, max_attempts, now).await })
        })
        .await?;
    let is_taken_over = |(id, _): &&(DeliveryId, DeliveryStatus)| of_others.contains(id);
    metrics::taken_over(returned.iter().filter(is_taken_over).count());
    for (id, status) in returned {
        tracing::info!(delivery = %id, %status, "a delivery that no process was working on was recovered");
        settle::announce(inner, &id, status).await;
    }
    Ok(())
}

async fn return_each(
    conn: &mut Conn,
    plans: Vec<(LeaseRow, Timestamp)>,
    max_attempts: i64,
    now: Timestamp,
) -> Result<Vec<(DeliveryId, DeliveryStatus)>, StoreError> {
    let current = conn.list_leases().await?;
    let mut returned = Vec::new();
    for (lease, next_attempt_at) in plans {
        if !current.contains(&lease) {
            continue;
        }
        let (is_done, status) = if lease.attempts >= max_attempts {
            let finish = DeliveryFinish {
                status: DeliveryStatus::Failed,
                finished_at: now,
                session_id: None,
                input_tokens: None,
                output_tokens: None,
                error: Some(format!(
                    "Gatehouse stopped {} times while it worked on this delivery, so it is not \
                     attempted again. Replay it to attempt it once more.",
                    lease.attempts
                )),
                response_actions: None,
                delivered_at: None,
                outcome: None,
                channel: None,
                response: DeliveryResponse::default(),
            };
            let done = conn
                .finish_delivery(&lease.id, &lease.owner, lease.attempts, &finish)
                .await?;
            (done, DeliveryStatus::Failed)
        } else {
            let requeue = DeliveryRequeue {
                next_attempt_at: Some(next_attempt_at),
                uncount: false,
                error: Some("Gatehouse stopped while it worked on this delivery.".to_owned()),
                session_id: None,
            };
            let done = conn
                .requeue_delivery(&lease.id, &lease.owner, lease.attempts, &requeue)
                .await?;
            (done, DeliveryStatus::Queued)
        };
        if is_done {
            returned.push((lease.id, status));
        }
    }
    Ok(returned)
}

/// Requeues deliveries that are leased to this node but have no run: the result of a claim was lost, or the
/// run panicked.
pub(super) async fn return_orphans(
    inner: &Arc<Inner>,
    orphans: Vec<DeliveryId>,
    slots: &Slots,
) -> Result<(), StoreError> {
    if orphans.is_empty() {
        return Ok(());
    }
    let leases = inner
        .queue
        .read(|conn| Box::pin(async move { conn.list_leases().await }))
        .await?;
    let mine = leases
        .into_iter()
        .filter(|lease| orphans.contains(&lease.id) && !slots.contains(&lease.id))
        .collect();
    return_lost(inner, mine).await
}

/// Requeues deliveries that were claimed but not started, without counting the attempt. Runs last at
/// shutdown.
pub(super) async fn return_unstarted(
    inner: &Arc<Inner>,
    slots: &Arc<Slots>,
) -> Result<(), StoreError> {
    let (owner, now) = (inner.node.clone(), inner.now());
    let running: HashSet<DeliveryId> = slots.attempts().into_iter().map(|(id, _)| id).collect();
    inner
        .store
        // This write runs after a claim that is still in progress.
        .write_queue(move |conn| {
            Box::pin(async move {
                for lease in conn.list_leases().await? {
                    if lease.owner == owner && !running.contains(&lease.id) {
                        let requeue = settle::untouched(now);
                        conn.requeue_delivery(&lease.id, &owner, lease.attempts, &requeue)
                            .await?;
                    }
                }
                Ok(())
            })
        })
        .await
}

/// Cancels the runs of deleted webhooks, including those that another node deleted.
pub(super) async fn cancel_removed(inner: &Arc<Inner>) -> Result<(), StoreError> {
    let removed = inner
        .queue
        .read(|conn| Box::pin(async move { conn.list_webhook_removals().await }))
        .await?;
    for id in removed {
        inner.cancels.cancel_webhook(&WebhookId::from_text(id));
    }
    Ok(())
}
