//! Deliveries that wait: for an older one of their session, for the vault, or because of a clock that
//! was set back; and how they get their place in the queue again. See [`crate::delivery_queue`] for
//! what a place is.

use crate::delivery_pace::WAITS_FOR_RATE;
use crate::delivery_queue::{PAGE, WAITS_FOR_VAULT};
use crate::sql::query;
use crate::{Conn, StoreError};
use gatehouse_domain::{DeliveryId, Timestamp};

/// How many waiting deliveries are listed in one go.
const LIST_LIMIT: i64 = 500;

impl Conn {
    /// Parked deliveries that nothing older holds back: what whoever deleted or changed the older ones
    /// left behind.
    pub async fn list_stranded_deliveries(&mut self) -> Result<Vec<DeliveryId>, StoreError> {
        let query = query(
            "SELECT id FROM webhook_deliveries AS waiting
             WHERE status IN ('received', 'queued') AND next_attempt_at IS NULL
                 AND (error IS NULL OR error <> $1)
                 AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS older
                     WHERE older.session_key = waiting.session_key
                         AND older.status IN ('received', 'queued', 'processing')
                         AND older.id < waiting.id)
             ORDER BY id LIMIT $2",
        );
        let ids: Vec<String> = self
            .list(query.bind(WAITS_FOR_VAULT).bind(LIST_LIMIT))
            .await?;
        Ok(ids.into_iter().map(DeliveryId::from_text).collect())
    }

    /// Gives these their place in the queue.
    pub async fn update_deliveries_due(
        &mut self,
        ids: &[DeliveryId],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let ids: Vec<String> = ids.iter().map(|id| id.as_str().to_owned()).collect();
        for page in ids.chunks(PAGE) {
            self.set_place(page, Some(now)).await?;
        }
        Ok(())
    }

    /// Some that wait for the vault.
    pub async fn list_deliveries_behind_vault(&mut self) -> Result<Vec<DeliveryId>, StoreError> {
        let query = query(
            "SELECT id FROM webhook_deliveries
             WHERE status IN ('received', 'queued') AND next_attempt_at IS NULL AND error = $1
             ORDER BY id LIMIT $2",
        );
        let ids: Vec<String> = self
            .list(query.bind(WAITS_FOR_VAULT).bind(LIST_LIMIT))
            .await?;
        Ok(ids.into_iter().map(DeliveryId::from_text).collect())
    }

    /// The vault is open: this one may run.
    pub async fn release_delivery_from_vault(
        &mut self,
        id: &DeliveryId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let query = query(
            "UPDATE webhook_deliveries SET next_attempt_at = $3, error = NULL
             WHERE id = $1 AND error = $2 AND status IN ('received', 'queued')
                 AND next_attempt_at IS NULL",
        );
        let query = query.bind(id.as_str()).bind(WAITS_FOR_VAULT);
        Ok(self.run(query.bind(now.as_millis())).await? > 0)
    }

    /// At the start of a node: what was stored and never queued is queued now.
    pub async fn update_received_deliveries(&mut self, now: Timestamp) -> Result<u64, StoreError> {
        let query = query(
            "UPDATE webhook_deliveries
             SET status = 'queued', next_attempt_at = COALESCE(next_attempt_at, $1)
             WHERE status = 'received' AND status IN ('received', 'queued', 'processing')",
        );
        self.run(query.bind(now.as_millis())).await
    }

    /// After the clock was set back: what was due, or would have been due within `longest_wait_ms`,
    /// has its place far in the future. It gets one now.
    pub async fn update_deliveries_too_late(
        &mut self,
        now: Timestamp,
        longest_wait_ms: i64,
    ) -> Result<u64, StoreError> {
        let query = query(
            "UPDATE webhook_deliveries SET next_attempt_at = $1
             WHERE status IN ('received', 'queued') AND next_attempt_at IS NOT NULL AND target IS NOT NULL
                 AND next_attempt_at > $1
                 AND (attempts = 0 AND (error IS NULL OR error <> $3) OR next_attempt_at > $2)",
        );
        let query = query.bind(now.as_millis());
        let query = query.bind(now.as_millis().saturating_add(longest_wait_ms));
        self.run(query.bind(WAITS_FOR_RATE)).await
    }
}
