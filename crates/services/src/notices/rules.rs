//! Decides which events of deliveries cause a message. The counts are in the database, so that the nodes of a
//! database send each message once. The caller supplies the time.

use gatehouse_domain::{DeliveryId, DeliveryStatus, Timestamp, WebhookId};
use gatehouse_store::{Conn, StoreError, WebhookNoticeRow};
use gatehouse_webhooks::Failures;
use std::time::Duration;

/// Failures of one webhook within this time after a message are combined in the next message.
pub(super) const TOGETHER: Duration = Duration::from_mins(15);
/// How many consecutive refusals without an accepted request cause a message.
pub(super) const REFUSALS: i64 = 10;
/// A webhook that still refuses requests is reported again after this time.
pub(super) const AGAIN: Duration = Duration::from_hours(24);

/// An event of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Failed,
    Refused,
}

impl Kind {
    /// Returns the event of a delivery's status, if the status is counted.
    pub(super) const fn of(status: DeliveryStatus) -> Option<Self> {
        match status {
            DeliveryStatus::Failed => Some(Self::Failed),
            DeliveryStatus::Rejected => Some(Self::Refused),
            _ => None,
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Refused => "refused",
        }
    }
}

/// A message to the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Notice {
    pub(super) kind: Kind,
    pub(super) webhook: WebhookId,
    /// Number of failures since the last message, or of consecutive refusals.
    pub(super) count: i64,
    /// The last delivery.
    pub(super) delivery: DeliveryId,
}

/// Returns whether this much time has passed since a message. Also true if the clock was set back by more than
/// this.
fn has_passed(told_at: Timestamp, now: Timestamp, time: Duration) -> bool {
    let passed = now.as_millis().abs_diff(told_at.as_millis());
    u128::from(passed) >= time.as_millis()
}

/// Returns the row of a webhook with these failures or refusals added.
async fn counted(
    conn: &mut Conn,
    kind: Kind,
    noted: &Failures,
) -> Result<WebhookNoticeRow, StoreError> {
    let webhook = &noted.webhook_id;
    let known = conn.find_webhook_notice(webhook, kind.as_str()).await?;
    let mut row = known.unwrap_or_else(|| WebhookNoticeRow {
        webhook_id: webhook.clone(),
        kind: kind.as_str().to_owned(),
        count: 0,
        delivery_id: noted.first.clone(),
        told_at: None,
    });
    let mut count = noted.count;
    if kind == Kind::Refused && conn.has_accepted_since(webhook, &row.delivery_id).await? {
        row.count = 0;
        row.told_at = None;
        // It is not known how many of these refusals came after the accepted request.
        if count > 1 && conn.has_accepted_since(webhook, &noted.first).await? {
            count = 1;
        }
    }
    row.count = row.count.saturating_add(count);
    row.delivery_id = noted.last.clone();
    Ok(row)
}

/// Counts failures or refusals. Returns the message, if one is due now.
pub(super) async fn note(
    conn: &mut Conn,
    kind: Kind,
    noted: &Failures,
    now: Timestamp,
) -> Result<Option<Notice>, StoreError> {
    let mut row = counted(conn, kind, noted).await?;
    let pause = match kind {
        Kind::Failed => TOGETHER,
        Kind::Refused => AGAIN,
    };
    let is_enough = kind == Kind::Failed || row.count >= REFUSALS;
    let is_due = is_enough && row.told_at.is_none_or(|at| has_passed(at, now, pause));
    let notice = is_due.then(|| tell(&mut row, kind, now));
    conn.update_webhook_notice(&row).await?;
    Ok(notice)
}

/// Counts failures or refusals while no message can be sent. A message about failures is due after [`TOGETHER`],
/// and a message about refusals at the next refusal.
pub(super) async fn note_for_later(
    conn: &mut Conn,
    kind: Kind,
    noted: &Failures,
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut row = counted(conn, kind, noted).await?;
    if kind == Kind::Failed {
        row.told_at = row.told_at.or(Some(now));
    }
    conn.update_webhook_notice(&row).await
}

/// Lists the failures whose last message was sent long enough ago.
pub(super) async fn list_due(
    conn: &mut Conn,
    now: Timestamp,
) -> Result<Vec<WebhookNoticeRow>, StoreError> {
    let together = i64::try_from(TOGETHER.as_millis()).unwrap_or(i64::MAX);
    let before = Timestamp::from_millis(now.as_millis().saturating_sub(together));
    conn.list_webhook_notices(Kind::Failed.as_str(), before)
        .await
}

/// Returns the messages that waited long enough.
pub(super) async fn due(conn: &mut Conn, now: Timestamp) -> Result<Vec<Notice>, StoreError> {
    conn.delete_stale_webhook_notices().await?;
    let kind = Kind::Failed;
    let rows = list_due(conn, now).await?;
    let mut notices = Vec::new();
    for mut row in rows {
        if row.count == 0 {
            // No delivery has failed since the last message, so the next failure is reported immediately.
            conn.delete_webhook_notice(&row.webhook_id, kind.as_str())
                .await?;
        } else {
            notices.push(tell(&mut row, kind, now));
            conn.update_webhook_notice(&row).await?;
        }
    }
    Ok(notices)
}

fn tell(row: &mut WebhookNoticeRow, kind: Kind, now: Timestamp) -> Notice {
    let notice = Notice {
        kind,
        webhook: row.webhook_id.clone(),
        count: row.count,
        delivery: row.delivery_id.clone(),
    };
    row.told_at = Some(now);
    if kind == Kind::Failed {
        row.count = 0;
    }
    notice
}

#[cfg(test)]
mod tests;
