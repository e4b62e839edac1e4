//! Deliveries whose rows cannot be read. A claim that finds such a row fails the delivery if the row is damaged,
//! and postpones it if the row may be from a newer version. Otherwise, each claim of the delivery's line would
//! fail. A list shows such a delivery with only a few values. Otherwise, the whole page would fail.

use crate::sql::{Column, FromRow, Row, columns, query};
use crate::{Conn, DeliveryRow, StoreError};
use gatehouse_domain::{DeliveryId, DeliveryStatus, Timestamp, WebhookId};
use std::time::Duration;

/// The `error` of a delivery that failed because its row is damaged.
const DAMAGED: &str = "The stored delivery is damaged and cannot be processed.";

/// The `error` of a delivery that is postponed because its row cannot be read. In a list, the `error` of any
/// unreadable delivery.
pub(crate) const UNREADABLE: &str =
    "The stored delivery cannot be read. It is damaged or from a newer version of Gatehouse.";

/// How long an unreadable delivery is postponed. A node of a newer version may claim it after that.
const PAUSE: Duration = Duration::from_mins(1);

/// Returns a delivery that was just claimed to the queue. The attempt does not count.
const PUT_OFF: &str = "UPDATE webhook_deliveries SET status = 'queued', next_attempt_at = $2,
         error = $3, attempts = attempts - 1, lease_owner = NULL, lease_until = NULL
     WHERE id = $1 AND status = 'processing'";

/// Selects when the oldest postponed delivery was received. The cast is needed because SQLite stores values of any
/// type.
const OLDEST_PUT_OFF: &str = "SELECT MIN(COALESCE(CAST(received_at AS BIGINT), 0)) AS received_at
     FROM webhook_deliveries
     WHERE status IN ('received', 'queued') AND next_attempt_at IS NOT NULL AND target IS NOT NULL
         AND error = $1 AND next_attempt_at > $2";

/// Fails a delivery that was just claimed. SQLite stores text in a numeric column if the text is not a number. The
/// statement replaces such a value with 0.
const FAIL: &str = "UPDATE webhook_deliveries SET status = 'failed', finished_at = $2, error = $3,
         received_at = CAST(received_at AS BIGINT), body_size = CAST(body_size AS BIGINT),
         input_tokens = NULL, output_tokens = NULL, delivered_at = NULL,
         lease_owner = NULL, lease_until = NULL, next_attempt_at = NULL
     WHERE id = $1 AND status = 'processing'
     RETURNING session_key, webhook_id, received_at, attempts, body_size";

/// A delivery to show. If its row cannot be read, it has only the ID, the webhook, the status, the time of receipt and
/// an error.
pub(crate) struct Shown(pub(crate) DeliveryRow);

impl FromRow for Shown {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        let cause = match DeliveryRow::from_row(row) {
            Ok(row) => return Ok(Self(row)),
            Err(cause) => cause,
        };
        let id = String::read(row, "id")?;
        tracing::warn!(
            delivery = %id,
            error = &cause as &dyn std::error::Error,
            "a stored delivery cannot be read"
        );
        let webhook_id = WebhookId::read(row, "webhook_id")?;
        let received_at = Timestamp::read(row, "received_at").unwrap_or_default();
        Ok(Self(DeliveryRow {
            status: DeliveryStatus::read(row, "status").unwrap_or(DeliveryStatus::Failed),
            ..unreadable(&id, webhook_id, received_at)
        }))
    }
}

struct Failed {
    session_key: String,
    webhook_id: WebhookId,
    received_at: Timestamp,
    attempts: i64,
    body_size: i64,
}

columns! { Failed: session_key, webhook_id, received_at, attempts, body_size }

struct Oldest {
    received_at: Option<Timestamp>,
}

columns! { Oldest: received_at }

impl Conn {
    /// Postpones a claimed delivery whose row may be from a newer version. Later deliveries of its session wait for
    /// it, as for a retry.
    pub(crate) fn put_off_unreadable(
        &mut self,
        id: &str,
        now: Timestamp,
        cause: &StoreError,
    ) -> Result<(), StoreError> {
        tracing::warn!(
            delivery = id,
            error = cause as &dyn std::error::Error,
            "a stored delivery cannot be read; it may be from a newer version and is postponed"
        );
        let until = now.after(PAUSE).as_millis();
        self.run_later(PUT_OFF, vec![id.into(), until.into(), UNREADABLE.into()])
    }

    /// Returns the time of receipt of the oldest delivery that waits because its row cannot be read. Examines only
    /// deliveries that are due after `since`.
    pub async fn find_oldest_unreadable_delivery(
        &mut self,
        since: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let query = query(OLDEST_PUT_OFF)
            .bind(UNREADABLE)
            .bind(since.as_millis());
        let oldest: Option<Oldest> = self.find(query).await?;
        Ok(oldest.and_then(|oldest| oldest.received_at))
    }

    /// Fails a claimed delivery whose row is damaged, and lets the next delivery of its session run. Returns its
    /// readable values.
    pub(crate) async fn fail_unreadable(
        &mut self,
        id: &str,
        now: Timestamp,
        cause: &StoreError,
    ) -> Result<Option<DeliveryRow>, StoreError> {
        let fail = query(FAIL).bind(id).bind(now.as_millis()).bind(DAMAGED);
        let Some(failed) = self.find::<Failed>(fail).await? else {
            return Ok(None);
        };
        tracing::error!(
            delivery = id,
            error = cause as &dyn std::error::Error,
            "a stored delivery is damaged; it is marked as failed"
        );
        let webhook_id = failed.webhook_id.as_str();
        self.note_ended(
            webhook_id,
            failed.received_at,
            DeliveryStatus::Failed,
            Some(0),
        );
        self.revive_next(&[(failed.session_key.as_str(), now)])
            .await?;
        Ok(Some(DeliveryRow {
            session_key: failed.session_key,
            started_at: Some(now),
            finished_at: Some(now),
            attempts: failed.attempts,
            body_size: failed.body_size,
            error: Some(DAMAGED.to_owned()),
            ..unreadable(id, failed.webhook_id, failed.received_at)
        }))
    }
}

/// Returns the row to show for a delivery that cannot be read.
fn unreadable(id: &str, webhook_id: WebhookId, received_at: Timestamp) -> DeliveryRow {
    DeliveryRow {
        id: DeliveryId::from_text(id),
        webhook_id,
        status: DeliveryStatus::Failed,
        event_type: None,
        entity_key: None,
        delivery_key: None,
        duplicate_of: None,
        replay_of: None,
        session_key: String::new(),
        session_id: None,
        received_at,
        started_at: None,
        finished_at: None,
        next_attempt_at: None,
        attempts: 0,
        lease_owner: None,
        lease_until: None,
        input_tokens: None,
        output_tokens: None,
        headers: "{}".to_owned(),
        body_size: 0,
        body_preview: String::new(),
        error: Some(UNREADABLE.to_owned()),
        response_actions: "[]".to_owned(),
        target: None,
        delivered_at: None,
        summary: None,
        outcome: None,
        channel: None,
        edited: None,
    }
}
