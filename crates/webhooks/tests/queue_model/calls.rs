//! The test's interface to the store, in the terms of the model. No other file of the model uses the store's
//! methods or rows.

use super::model::{Claimed, Lease, Problem, START};
use gatehouse_domain::{DeliveryId, DeliveryStatus, Timestamp, WebhookId};
use gatehouse_store::{
    ClaimRequest, Conn, DeliveryFilter, DeliveryFinish, DeliveryRequeue, DeliveryResponse,
    LeaseRow, NewDelivery, StoreError, Take, WAITS_FOR_VAULT, WebhookRow,
};

/// How long a claim lasts without renewal.
pub const LEASE_SECONDS: i64 = 60;
/// A longer wait is attributed to a clock that was set back.
pub const LONGEST_WAIT_SECONDS: i64 = 30 * 3600;
/// Whether a claim skips the deliveries of disabled webhooks.
pub const HOLDS_DISABLED: bool = true;
/// Maximum total size of the rows that one sweep of deleted webhooks removes.
const SWEEP_BYTES: i64 = 1 << 20;

/// A time later than any time in a case.
const FAR: i64 = 100 * 365 * 86_400;

type Result<T, E = Problem> = std::result::Result<T, E>;

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self::Wrong(format!("the store failed: {error:?}"))
    }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis((START + seconds) * 1000)
}

fn seconds(moment: Timestamp) -> i64 {
    moment.as_millis() / 1000 - START
}

/// Returns a delivery ID. IDs sort by their numbers.
fn id(number: u32) -> DeliveryId {
    DeliveryId::from_text(format!("del_{number:08}"))
}

fn number(id: &DeliveryId) -> u32 {
    id.as_str().trim_start_matches("del_").parse().unwrap()
}

fn numbers(ids: &[DeliveryId]) -> Vec<u32> {
    ids.iter().map(number).collect()
}

fn ids(numbers: &[u32]) -> Vec<DeliveryId> {
    numbers.iter().copied().map(id).collect()
}

pub struct Accept<'a> {
    pub number: u32,
    pub webhook: &'a str,
    pub session: &'a str,
    pub queued: bool,
    pub replay_of: Option<u32>,
    pub now: i64,
}

pub async fn accept(conn: &mut Conn, new: Accept<'_>) -> Result<bool> {
    let status = if new.queued {
        DeliveryStatus::Queued
    } else {
        DeliveryStatus::Received
    };
    let row = NewDelivery {
        id: id(new.number),
        webhook_id: WebhookId::from_text(new.webhook),
        status,
        event_type: None,
        entity_key: None,
        delivery_key: None,
        unique_key: None,
        bytes_key: None,
        duplicate_of: None,
        replay_of: new.replay_of.map(id),
        redelivery: None,
        summary: None,
        session_key: new.session.to_owned(),
        received_at: at(new.now),
        next_attempt_at: new.queued.then(|| at(new.now)),
        headers: "{}".to_owned(),
        body_size: 2,
        body_preview: "{}".to_owned(),
        payload: Some("{}".to_owned()),
        config: Some("{}".into()),
        error: None,
        target: Some(format!("http:{}", new.webhook).into()),
    };
    let stored = conn.insert_deliveries(std::slice::from_ref(&row)).await?;
    Ok(stored == [true])
}

/// Claims deliveries. Returns them, and whether the claim examined all due deliveries. Like a worker, skips
/// deliveries on hold, such as those of `disabled` webhooks.
pub async fn claim(
    conn: &mut Conn,
    owner: &str,
    now: i64,
    limit: usize,
    disabled: &[String],
) -> Result<(Vec<Claimed>, bool)> {
    let lines: Vec<_> = conn
        .list_delivery_lines(None, 1024)
        .await?
        .into_iter()
        .filter(|line| !disabled.iter().any(|id| id == line.webhook_id.as_str()))
        .collect();
    // In a small claim, a line gets one slot; in a large one, all of them.
    let each = if limit < 100 { 1 } else { limit };
    let has_all_lines = lines.len() <= limit;
    let takes = lines
        .into_iter()
        .take(limit)
        .map(|line| Take {
            target: line.target,
            webhook_id: line.webhook_id,
            limit: each,
        })
        .collect();
    let want = ClaimRequest {
        owner: owner.to_owned(),
        now: at(now),
        lease_until: at(now + LEASE_SECONDS),
        takes,
        paced: Vec::new(),
    };
    let claims = conn.claim_deliveries(&want).await?;
    let claimed = claims.claimed.iter().map(|work| Claimed {
        number: number(&work.row.id),
        webhook: work.row.webhook_id.as_str().to_owned(),
    });
    Ok((claimed.collect(), has_all_lines && !claims.more))
}

/// One attempt at a delivery by an owner.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    pub number: u32,
    pub owner: &'a str,
    pub attempt: i64,
}

pub async fn finish(conn: &mut Conn, run: Run<'_>, now: i64, completed: bool) -> Result<bool> {
    let finish = DeliveryFinish {
        status: if completed {
            DeliveryStatus::Completed
        } else {
            DeliveryStatus::Failed
        },
        finished_at: at(now),
        session_id: None,
        input_tokens: None,
        output_tokens: None,
        error: None,
        response_actions: Some("[]".to_owned()),
        delivered_at: None,
        outcome: None,
        channel: None,
        response: DeliveryResponse::default(),
    };
    Ok(conn
        .finish_delivery(&id(run.number), run.owner, run.attempt, &finish)
        .await?)
}

/// How a delivery is returned to the queue.
#[derive(Clone, Copy)]
pub struct Requeue {
    /// The earliest time of the next attempt; `None` parks the delivery.
    pub next: Option<i64>,
    pub uncount: bool,
    pub needs_vault: bool,
}

pub async fn requeue(conn: &mut Conn, run: Run<'_>, requeue: Requeue) -> Result<bool> {
    let error = if requeue.needs_vault {
        WAITS_FOR_VAULT
    } else {
        "busy"
    };
    let requeue = DeliveryRequeue {
        next_attempt_at: requeue.next.map(at),
        uncount: requeue.uncount,
        error: Some(error.to_owned()),
        session_id: None,
    };
    Ok(conn
        .requeue_delivery(&id(run.number), run.owner, run.attempt, &requeue)
        .await?)
}

/// Cancels a waiting or running delivery. `None` if the store does not support it.
pub async fn cancel(conn: &mut Conn, delivery: u32, now: i64) -> Result<Option<bool>> {
    Ok(Some(conn.cancel_delivery(&id(delivery), at(now)).await?))
}

pub async fn renew(conn: &mut Conn, owner: &str, now: i64) -> Result<Vec<u32>> {
    let mine = conn.renew_leases(owner, at(now + LEASE_SECONDS)).await?;
    let mine: Vec<_> = mine.into_iter().map(|(id, _)| id).collect();
    Ok(numbers(&mine))
}

pub async fn leases(conn: &mut Conn) -> Result<Vec<Lease>> {
    let lease = |row: LeaseRow| Lease {
        number: number(&row.id),
        until: seconds(row.until),
        owner: row.owner,
        attempts: row.attempts,
    };
    Ok(conn.list_leases().await?.into_iter().map(lease).collect())
}

pub async fn stranded(conn: &mut Conn) -> Result<Vec<u32>> {
    Ok(numbers(&conn.list_stranded_deliveries().await?))
}

/// Makes these deliveries due, as well as those delayed because the clock was set back.
pub async fn revive(conn: &mut Conn, stranded: &[u32], now: i64) -> Result<()> {
    conn.update_deliveries_due(&ids(stranded), at(now))?;
    conn.update_deliveries_too_late(at(now), LONGEST_WAIT_SECONDS * 1000)
        .await?;
    Ok(())
}

pub async fn behind_vault(conn: &mut Conn) -> Result<Vec<u32>> {
    Ok(numbers(&conn.list_deliveries_behind_vault().await?))
}

pub async fn release(conn: &mut Conn, delivery: u32, now: i64) -> Result<bool> {
    Ok(conn
        .release_delivery_from_vault(&id(delivery), at(now))
        .await?)
}

/// Runs a node's startup: queues deliveries that were stored but never queued.
pub async fn start(conn: &mut Conn, now: i64) -> Result<()> {
    conn.update_received_deliveries(at(now)).await?;
    Ok(())
}

fn webhook(webhook: &str, enabled: bool) -> WebhookRow {
    WebhookRow {
        id: WebhookId::from_text(webhook),
        public_id: format!("wh_{webhook}"),
        name: webhook.to_owned(),
        config: "{}".to_owned(),
        enabled,
        delivery_count: 0,
        last_delivery_at: None,
        created_at: at(0),
        updated_at: at(0),
    }
}

pub async fn create_webhook(conn: &mut Conn, id: &str) -> Result<()> {
    Ok(conn.insert_webhook(&webhook(id, true)).await?)
}

pub async fn enable_webhook(conn: &mut Conn, id: &str, enabled: bool) -> Result<bool> {
    Ok(conn.update_webhook(&webhook(id, enabled)).await?)
}

pub async fn delete_webhook(conn: &mut Conn, id: &str, now: i64) -> Result<bool> {
    conn.insert_webhook_removal(id, at(now)).await?;
    Ok(conn.delete_webhook(id).await?)
}

/// Removes rows of a deleted webhook. Returns their number.
pub async fn sweep(conn: &mut Conn, webhook: &str, rows: i64) -> Result<u64> {
    Ok(conn
        .delete_removed_deliveries(webhook, rows, SWEEP_BYTES)
        .await?)
}

/// Forgets deleted webhooks without remaining rows. Returns the deleted webhooks that still have rows.
pub async fn forget_removed(conn: &mut Conn) -> Result<Vec<String>> {
    conn.delete_finished_removals(at(FAR)).await?;
    Ok(conn.list_webhook_removals().await?)
}

pub async fn wipe(conn: &mut Conn) -> Result<()> {
    for webhook in conn.list_webhooks().await? {
        delete_webhook(conn, webhook.id.as_str(), 0).await?;
    }
    for webhook in conn.list_webhook_removals().await? {
        sweep(conn, &webhook, 1_000_000).await?;
    }
    let left = forget_removed(conn).await?;
    if left.is_empty() {
        return Ok(());
    }
    Err(Problem::Wrong(format!("rows of {left:?} are left")))
}

/// Removes old deliveries that have ended. Returns the removed ones.
pub async fn retain(conn: &mut Conn, before: i64) -> Result<Vec<u32>> {
    let old = conn.list_old_deliveries(at(before), false, 10).await?;
    let old: Vec<DeliveryId> = old.into_iter().map(|old| old.id).collect();
    let removed = conn.delete_old_deliveries(&old).await?;
    if removed != old.len() as u64 {
        let wrong = format!("{removed} of {} old deliveries were removed", old.len());
        return Err(Problem::Wrong(wrong));
    }
    Ok(numbers(&old))
}

#[derive(Debug, PartialEq, Eq)]
pub struct Seen {
    pub number: u32,
    pub status: &'static str,
    pub attempts: i64,
    pub owner: Option<String>,
}

/// Returns every visible delivery, oldest first.
pub async fn everything(conn: &mut Conn) -> Result<Vec<Seen>> {
    let mut all = Vec::new();
    let mut filter = DeliveryFilter::default();
    loop {
        let page = conn.list_deliveries(&filter, 500).await?;
        all.extend(page.rows.into_iter().map(|row| Seen {
            number: number(&row.id),
            status: match row.status {
                DeliveryStatus::Received | DeliveryStatus::Queued => "open",
                other => other.as_str(),
            },
            attempts: row.attempts,
            owner: row.lease_owner,
        }));
        match page.next {
            Some(next) => filter.before = Some(next),
            None => break,
        }
    }
    all.reverse();
    Ok(all)
}

/// Counts the deliveries that wait for a worker, including those of deleted webhooks.
pub async fn depth(conn: &mut Conn) -> Result<i64> {
    Ok(conn.count_queued_deliveries().await?)
}
