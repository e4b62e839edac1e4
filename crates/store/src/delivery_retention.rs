//! Deletes old deliveries in small batches, which keeps each transaction short.

use crate::delivery_queue::{PAGE, page_from_2};
use crate::sql::{columns, query};
use crate::status_conditions::is_not_done;
use crate::{Conn, StoreError};
use gatehouse_domain::{DeliveryId, DeliveryStatus, Timestamp, WebhookId};

/// A delivery that may be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldDelivery {
    pub id: DeliveryId,
    /// The size of the received body; 0 if the stored value is not a number.
    pub body_bytes: i64,
}

columns! { OldDelivery: id, body_bytes("body_size") }

/// The deliveries of one webhook that were refused for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedGroup {
    pub webhook_id: WebhookId,
    pub status: DeliveryStatus,
    /// Why they were rejected; `None` for other statuses.
    pub reason: Option<String>,
    pub count: i64,
}

columns! { RefusedGroup: webhook_id, status, reason, count("pile") }

impl Conn {
    /// Lists ended deliveries received before `before`, oldest first. IDs begin with the time of creation, so the
    /// query uses the primary key. With `ids_are_ahead` (the clock was set back after IDs were created), it scans
    /// all rows.
    pub async fn list_old_deliveries(
        &mut self,
        before: Timestamp,
        ids_are_ahead: bool,
        limit: i64,
    ) -> Result<Vec<OldDelivery>, StoreError> {
        let query = query(
            "SELECT id, CAST(body_size AS BIGINT) AS body_size FROM webhook_deliveries
             WHERE id < $1 AND received_at < $2
                 AND status NOT IN ('received', 'queued', 'processing')
             ORDER BY id LIMIT $3",
        );
        let before_id = if ids_are_ahead {
            AFTER_ALL.to_owned()
        } else {
            first_id(before)
        };
        let query = query.bind(before_id).bind(before.as_millis());
        self.list(query.bind(limit)).await
    }

    /// Returns the greatest ID of a delivery.
    pub async fn find_last_delivery_id(&mut self) -> Result<Option<DeliveryId>, StoreError> {
        let query =
            query("SELECT id FROM webhook_deliveries WHERE id < $1 ORDER BY id DESC LIMIT 1");
        let found: Option<String> = self.find(query.bind(AFTER_ALL)).await?;
        Ok(found.map(DeliveryId::from_text))
    }

    /// Lists the groups of refused deliveries with more than `limit` rows. Rejected deliveries are grouped by
    /// reason.
    pub async fn list_refused_groups(
        &mut self,
        limit: i64,
    ) -> Result<Vec<RefusedGroup>, StoreError> {
        let others = query(concat!(
            "SELECT webhook_id, status, CAST(NULL AS TEXT) AS reason, COUNT(*) AS pile
             FROM webhook_deliveries WHERE ",
            is_not_done!(),
            " AND status IN ('filtered', 'deduplicated')
             GROUP BY webhook_id, status HAVING COUNT(*) > $1 ORDER BY webhook_id, status",
        ));
        let mut piles: Vec<RefusedGroup> = self.list(others.bind(limit)).await?;
        let rejected = query(
            "SELECT webhook_id, status, error AS reason, COUNT(*) AS pile
             FROM webhook_deliveries WHERE status = 'rejected'
             GROUP BY webhook_id, status, error HAVING COUNT(*) > $1
             ORDER BY webhook_id, COALESCE(error, '')",
        );
        piles.extend(self.list::<RefusedGroup>(rejected.bind(limit)).await?);
        Ok(piles)
    }

    /// Lists the oldest deliveries of a group.
    pub async fn list_oldest_refused(
        &mut self,
        pile: &RefusedGroup,
        limit: i64,
    ) -> Result<Vec<OldDelivery>, StoreError> {
        if let Some(reason) = &pile.reason {
            let query = query(
                "SELECT id, CAST(body_size AS BIGINT) AS body_size FROM webhook_deliveries
                 WHERE webhook_id = $1 AND error = $2 AND status = 'rejected'
                 ORDER BY id LIMIT $3",
            );
            let query = query.bind(pile.webhook_id.as_str()).bind(reason.as_str());
            return self.list(query.bind(limit)).await;
        }
        let query = query(concat!(
            "SELECT id, CAST(body_size AS BIGINT) AS body_size FROM webhook_deliveries
             WHERE webhook_id = $1 AND status = $2 AND (status <> 'rejected' OR error IS NULL)
                 AND ",
            is_not_done!(),
            " ORDER BY id LIMIT $3",
        ));
        let query = query.bind(pile.webhook_id.as_str());
        self.list(query.bind(pile.status.as_str()).bind(limit))
            .await
    }

    /// Deletes deliveries and returns their number. Keeps deliveries that are open, because a retry may have
    /// reopened them.
    pub async fn delete_old_deliveries(&mut self, ids: &[DeliveryId]) -> Result<u64, StoreError> {
        let mut removed = 0;
        for page in ids.chunks(PAGE) {
            let Some(last) = page.last() else {
                continue;
            };
            let sql = page_from_2!(
                "DELETE FROM webhook_deliveries WHERE status NOT IN ($1, 'queued', 'processing') AND id IN ",
                ""
            );
            let mut query = query(sql).bind(DeliveryStatus::Received.as_str());
            for place in 0..PAGE {
                query = query.bind(page.get(place).unwrap_or(last).as_str());
            }
            removed += self.run(query).await?;
        }
        Ok(removed)
    }
}

const AFTER_ALL: &str = "dem";

/// Returns a text that sorts before every ID created at `moment` or later. IDs begin with 48 bits of Unix
/// milliseconds (RFC 9562, section 5.7).
fn first_id(moment: Timestamp) -> String {
    format!("del_{:012x}", moment.as_millis().clamp(0, 0xffff_ffff_ffff))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{run_sql, sqlite};
    use gatehouse_domain::{ManualClock, SeededRandom};

    #[test]
    fn the_first_id_of_a_moment_sorts_between_the_ids_around_it() {
        let id = |millis| {
            DeliveryId::generate(
                &ManualClock::at(Timestamp::from_millis(millis)),
                &SeededRandom::new(3),
            )
        };
        let bound = first_id(Timestamp::from_millis(1_795_000_000_000));
        assert!(id(1_794_999_999_999).as_str() < bound.as_str());
        assert!(id(1_795_000_000_000).as_str() > bound.as_str());
    }

    #[tokio::test]
    async fn an_old_delivery_with_a_damaged_size_is_deleted() {
        let database = sqlite();
        let store = database.open().await;
        let insert = "INSERT INTO webhook_deliveries (id, webhook_id, status, session_key, received_at, headers,
                 body_size, body_preview)
             VALUES ('del_0000000000010', 'hook_a', 'completed', '', 1, '{}', 'text', '')";
        run_sql(&database.location, insert).await;
        let old = store.read(|conn| {
            let before = Timestamp::from_millis(10);
            Box::pin(async move { conn.list_old_deliveries(before, false, 10).await })
        });
        let old: Result<Vec<OldDelivery>, StoreError> = old.await;
        let sizes: Vec<i64> = old.unwrap().iter().map(|one| one.body_bytes).collect();
        assert_eq!(sizes, [0]);
        store.close().await;
    }
}
