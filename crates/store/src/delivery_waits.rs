//! Makes waiting deliveries due again. These are deliveries parked behind an older delivery or for the vault, and
//! deliveries whose due time is too far in the future because the clock was set back. [`crate::delivery_queue`]
//! describes parking.

use crate::delivery_queue::{PAGE, WAITS_FOR_RELEASE, WAITS_FOR_VAULT};
use crate::sql::query;
use crate::status_conditions::is_open;
use crate::{Conn, StoreError};
use gatehouse_domain::{DeliveryId, Timestamp};
use std::sync::LazyLock;

/// The `error` of a delivery that waits for a budget.
pub const WAITS_FOR_BUDGET: &str = "Waits until a budget resets or is raised.";

/// The key in the table `settings`. It is set while restored deliveries that arrived during the sealed state are
/// kept.
const HOLDS_SEALED: &str = "restored_deliveries_held";

/// Maximum number of deliveries that one statement makes due. PostgreSQL ends a statement that takes too long, and
/// other writes wait for it.
pub const RELEASED_AT_ONCE: u64 = 5_000;
const LIMIT: i64 = RELEASED_AT_ONCE.cast_signed();

/// Maximum number of waiting deliveries per list.
const LIST_LIMIT: i64 = 500;
const COUNT_SEALED: &str = "SELECT COUNT(*) FROM held_deliveries";

/// The condition of parked deliveries, as in their index.
pub(crate) const HAS_NO_PLACE: &str =
    "status IN ('received', 'queued') AND next_attempt_at IS NULL";

/// The condition of parked deliveries that were restored from a backup and wait for the owner.
pub(crate) static WAITS_FOR_OWNER: LazyLock<String> =
    LazyLock::new(|| format!("error = '{WAITS_FOR_RELEASE}'"));

impl Conn {
    /// Lists parked deliveries that wait neither for the vault nor for the owner, and have no older open delivery
    /// in their session. A deletion or change of the older deliveries can leave such deliveries parked.
    pub async fn list_stranded_deliveries(&mut self) -> Result<Vec<DeliveryId>, StoreError> {
        let query = query(concat!(
            "SELECT id FROM webhook_deliveries AS waiting
             WHERE status IN ('received', 'queued') AND next_attempt_at IS NULL
                 AND (error IS NULL OR error NOT IN ($1, $2))
                 AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS older
                     WHERE older.session_key = waiting.session_key
                         AND older.id < waiting.id AND ",
            is_open!("older."),
            ") ORDER BY id LIMIT $3",
        ));
        let query = query.bind(WAITS_FOR_VAULT).bind(WAITS_FOR_RELEASE);
        let ids: Vec<String> = self.list(query.bind(LIST_LIMIT)).await?;
        Ok(ids.into_iter().map(DeliveryId::from_text).collect())
    }

    /// Makes queued deliveries due now.
    pub fn update_deliveries_due(
        &mut self,
        ids: &[DeliveryId],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let ids: Vec<String> = ids.iter().map(|id| id.as_str().to_owned()).collect();
        for page in ids.chunks(PAGE) {
            self.set_place(page, Some(now))?;
        }
        Ok(())
    }

    /// Lists deliveries that wait for the vault.
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

    /// Makes a delivery that waits for the vault due now. Returns `false` if it does not wait for the vault.
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

    /// Makes at most [`RELEASED_AT_ONCE`] deliveries due that wait for a budget. Returns their number.
    pub async fn release_deliveries_from_budget(
        &mut self,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        // A write of the queue may change a delivery at the same time. In this case, PostgreSQL evaluates only the
        // outer condition again.
        let query = query(
            "UPDATE webhook_deliveries SET next_attempt_at = $1, error = NULL
             WHERE id IN (SELECT id FROM webhook_deliveries
                 WHERE status IN ('received', 'queued') AND next_attempt_at IS NOT NULL AND target IS NOT NULL
                     AND error = $2 LIMIT $3)
                 AND status IN ('received', 'queued') AND error = $2",
        );
        let query = query.bind(now.as_millis()).bind(WAITS_FOR_BUDGET);
        self.run(query.bind(LIMIT)).await
    }

    /// Makes at most [`RELEASED_AT_ONCE`] deliveries due that were restored from a backup and wait for the owner. A
    /// delivery behind an older one of its session stays parked until the older one ends. Returns the number of
    /// released deliveries; 0 if no delivery waits for the owner.
    pub async fn release_deliveries(&mut self, now: Timestamp) -> Result<u64, StoreError> {
        let query = query(concat!(
            "UPDATE webhook_deliveries SET error = NULL, next_attempt_at = CASE WHEN EXISTS (
                     SELECT 1 FROM webhook_deliveries AS older
                     WHERE older.session_key = webhook_deliveries.session_key
                         AND older.id < webhook_deliveries.id AND ",
            is_open!("older."),
            ")
                 THEN NULL ELSE $1 END
             WHERE id IN (SELECT id FROM webhook_deliveries
                 WHERE status IN ('received', 'queued') AND next_attempt_at IS NULL AND error = $2
                 ORDER BY id LIMIT $3)",
        ));
        let query = query.bind(now.as_millis()).bind(WAITS_FOR_RELEASE);
        let waiting = self.run(query.bind(LIMIT)).await?;
        if waiting >= RELEASED_AT_ONCE || !self.holds_sealed_deliveries().await? {
            return Ok(waiting);
        }
        self.delete_setting(HOLDS_SEALED).await?;
        let sealed = self.number(self::query(COUNT_SEALED)).await?;
        Ok(waiting + u64::try_from(sealed).unwrap_or_default())
    }

    /// Returns whether deliveries that arrived while the vault was sealed wait until the owner releases them.
    pub async fn holds_sealed_deliveries(&mut self) -> Result<bool, StoreError> {
        Ok(self.find_setting(HOLDS_SEALED).await?.is_some())
    }

    pub(crate) async fn hold_sealed_deliveries(
        &mut self,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.update_setting(HOLDS_SEALED, &true.into(), now).await
    }

    /// Counts the deliveries that were restored from a backup and wait for the owner.
    pub async fn count_deliveries_to_release(&mut self) -> Result<i64, StoreError> {
        let sql = format!(
            "SELECT COUNT(*) FROM webhook_deliveries WHERE {HAS_NO_PLACE} AND {}",
            *WAITS_FOR_OWNER
        );
        let waiting = self.number(query(sql)).await?;
        if !self.holds_sealed_deliveries().await? {
            return Ok(waiting);
        }
        Ok(waiting + self.number(query(COUNT_SEALED)).await?)
    }

    /// Queues deliveries with the status `received`. Runs when a node starts.
    pub async fn update_received_deliveries(&mut self, now: Timestamp) -> Result<u64, StoreError> {
        let query = query(concat!(
            "UPDATE webhook_deliveries
             SET status = 'queued', next_attempt_at = COALESCE(next_attempt_at, $1)
             WHERE status = 'received' AND ",
            is_open!(),
        ));
        self.run(query.bind(now.as_millis())).await
    }

    /// Makes deliveries due that wait because the clock was set back. These are deliveries without an attempt and
    /// without a reason to wait, and deliveries that are due more than `longest_wait_ms` from now. Deliveries with
    /// a reason to wait, such as a rate limit of their webhook or of the model provider, keep a due time within
    /// `longest_wait_ms`. Deliveries that wait for a budget always keep their due time. Changes at most
    /// [`RELEASED_AT_ONCE`] deliveries and returns their number.
    pub async fn update_deliveries_too_late(
        &mut self,
        now: Timestamp,
        longest_wait_ms: i64,
    ) -> Result<u64, StoreError> {
        let query = query(
            "UPDATE webhook_deliveries SET next_attempt_at = $1
             WHERE id IN (SELECT id FROM webhook_deliveries
                 WHERE status IN ('received', 'queued') AND next_attempt_at IS NOT NULL AND target IS NOT NULL
                     AND next_attempt_at > $1 AND (error IS NULL OR error <> $3)
                     AND (attempts = 0 AND error IS NULL OR next_attempt_at > $2) LIMIT $4)",
        );
        let query = query.bind(now.as_millis());
        let query = query.bind(now.as_millis().saturating_add(longest_wait_ms));
        self.run(query.bind(WAITS_FOR_BUDGET).bind(LIMIT)).await
    }
}
