//! Table `webhook_deliveries` as a queue: claiming by lease, renewing, finishing, returning, waiting.
//!
//! All of it relies on one thing: one write transaction runs at a time in the whole database. What a
//! claim reads is still true when it writes, on every node.
//!
//! **Parking.** Only the oldest open delivery of a session may run. One that a claim finds due behind
//! an older one loses its `next_attempt_at` and with it its place in the index of the queue; whatever
//! ends the older one gives the next its place back, in the same transaction. So a claim looks at each
//! delivery that must wait once, however many wait and however long. A delivery that waits for the
//! vault is parked too, with [`WAITS_FOR_VAULT`] as its error.
//!
//! This file knows no worker and no webhook: what a delivery is for stands in its `config`.

use crate::delivery_pace::{Pace, Paces, WAITS_FOR_RATE};
use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{DeliveryId, DeliveryStatus, SessionId, Timestamp, WebhookId};
use std::collections::HashSet;

/// The `error` of a delivery that waits until the vault is open.
pub const WAITS_FOR_VAULT: &str = "Waits until the vault is unsealed.";

/// How many due deliveries a claim looks at in one go.
pub(crate) const PAGE: usize = 64;
/// How many deliveries one claim parks at most, so that it never holds the writer long.
const PARK_LIMIT: usize = 128;

/// What a worker wants to claim.
#[derive(Clone, Debug)]
pub struct ClaimRequest {
    /// Who claims: unique for each life of a node.
    pub owner: String,
    /// The time of day.
    pub now: Timestamp,
    /// Until when the claim holds unless it is renewed.
    pub lease_until: Timestamp,
    /// How many at most.
    pub limit: usize,
    /// Webhooks that run their deliveries at a rate.
    pub paced: Vec<Pace>,
}

/// What a worker got.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// The deliveries that are now its own, the longest due first.
    pub claimed: Vec<DeliveryId>,
    /// Their webhooks, in the same order.
    pub webhooks: Vec<WebhookId>,
    /// Whether more may be due: the claim stopped before it had looked at everything.
    pub more: bool,
}

/// What a run needs of a claimed delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryWork {
    /// Its id.
    pub id: DeliveryId,
    /// The webhook it came to.
    pub webhook_id: WebhookId,
    /// What kind of event, if that is known.
    pub event_type: Option<String>,
    /// The chat session it belongs to.
    pub session_key: String,
    /// When it came.
    pub received_at: Timestamp,
    /// When this attempt began.
    pub started_at: Timestamp,
    /// Which attempt this is, from 1.
    pub attempts: i64,
    /// The safe headers, as JSON text.
    pub headers: String,
    /// The payload, as it was stored.
    pub payload: Option<String>,
    /// The webhook's configuration when it came, as JSON text.
    pub config: Option<String>,
}

impl FromRow for DeliveryWork {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        let received_at = Timestamp::from_millis(row.try_get("received_at")?);
        Ok(Self {
            id: DeliveryId::from_text(row.try_get::<String, _>("id")?),
            webhook_id: WebhookId::from_text(row.try_get::<String, _>("webhook_id")?),
            event_type: row.try_get("event_type")?,
            session_key: row.try_get("session_key")?,
            received_at,
            started_at: row
                .try_get::<Option<i64>, _>("started_at")?
                .map_or(received_at, Timestamp::from_millis),
            attempts: row.try_get("attempts")?,
            headers: row.try_get("headers")?,
            payload: row.try_get("payload")?,
            config: row.try_get("config")?,
        })
    }
}

/// How a delivery ended.
#[derive(Clone, Debug)]
pub struct DeliveryFinish {
    /// `completed` or `failed`.
    pub status: DeliveryStatus,
    /// When.
    pub finished_at: Timestamp,
    /// The chat session that an agent worked in.
    pub session_id: Option<SessionId>,
    /// Tokens of all its model calls, when there were any.
    pub input_tokens: Option<i64>,
    /// The same, for what the models wrote.
    pub output_tokens: Option<i64>,
    /// Why it failed, for people.
    pub error: Option<String>,
    /// What the agent did, as JSON text.
    pub response_actions: String,
}

/// Back to the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryRequeue {
    /// Not before this; `None` parks it until somebody gives it a place again.
    pub next_attempt_at: Option<Timestamp>,
    /// Whether the attempt that ends here is forgotten.
    pub uncount: bool,
    /// Why it is back, for people.
    pub error: Option<String>,
    /// The chat session that an agent began to work in.
    pub session_id: Option<SessionId>,
}

/// A due delivery, and the oldest open one of its session.
struct Due {
    id: String,
    session_key: String,
}

impl FromRow for Due {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.try_get("id")?,
            session_key: row.try_get("session_key")?,
        })
    }
}

/// The oldest open delivery of a session.
struct Head {
    id: String,
    webhook_id: String,
    /// Parked, and not for the vault: it waits for nothing but a place.
    is_free: bool,
}

impl FromRow for Head {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        let status: String = row.try_get("status")?;
        let place: Option<i64> = row.try_get("next_attempt_at")?;
        let error: Option<String> = row.try_get("error")?;
        Ok(Self {
            id: row.try_get("id")?,
            webhook_id: row.try_get("webhook_id")?,
            is_free: status != "processing"
                && place.is_none()
                && error.as_deref() != Some(WAITS_FOR_VAULT),
        })
    }
}

/// A statement with [`PAGE`] parameters in a list, from `$2` on.
macro_rules! page_from_2 {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "($2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24,\
             $25,$26,$27,$28,$29,$30,$31,$32,$33,$34,$35,$36,$37,$38,$39,$40,$41,$42,$43,$44,$45,\
             $46,$47,$48,$49,$50,$51,$52,$53,$54,$55,$56,$57,$58,$59,$60,$61,$62,$63,$64,$65)",
            $after
        )
    };
}

pub(crate) use page_from_2;

impl Conn {
    /// Claims what is due, the longest due first, at most one for each session and only its oldest.
    /// The claim counts as an attempt, so that one which ends the process is counted too.
    pub async fn claim_deliveries(&mut self, want: &ClaimRequest) -> Result<Claims, StoreError> {
        let mut busy: HashSet<String> = self.list_busy_sessions().await?.into_iter().collect();
        let removed: HashSet<String> = self.list_webhook_removals().await?.into_iter().collect();
        let mut claims = Claims::default();
        let mut paces = Paces::new(&want.paced);
        let mut parked = 0;
        while claims.claimed.len() < want.limit {
            let page = self.list_due(want.now).await?;
            let is_last = page.len() < PAGE;
            let mut to_park = Vec::new();
            for due in page {
                if claims.claimed.len() == want.limit {
                    break;
                }
                let head = if busy.contains(&due.session_key) {
                    None
                } else {
                    self.find_living_head(&due.session_key, &removed).await?
                };
                let ready = head.filter(|head| head.id == due.id || head.is_free);
                if ready.as_ref().is_none_or(|head| head.id != due.id) {
                    to_park.push(due.id);
                }
                let Some(head) = ready else {
                    continue;
                };
                if let Err(until) = paces.take(&head.webhook_id) {
                    self.put_off(&head.id, until).await?;
                    parked += 1;
                    continue;
                }
                self.claim_one(&head.id, want).await?;
                claims.claimed.push(DeliveryId::from_text(head.id));
                claims.webhooks.push(WebhookId::from_text(head.webhook_id));
                busy.insert(due.session_key);
            }
            parked += to_park.len();
            self.park(&to_park).await?;
            claims.more = !is_last;
            if is_last || parked >= PARK_LIMIT {
                break;
            }
        }
        claims.more |= claims.claimed.len() == want.limit;
        Ok(claims)
    }

    /// The oldest open delivery of a session. Those of deleted webhooks, which wait to be removed, are
    /// removed on the way: they must not run, and must not hold back those of another webhook.
    async fn find_living_head(
        &mut self,
        session_key: &str,
        removed: &HashSet<String>,
    ) -> Result<Option<Head>, StoreError> {
        while let Some(head) = self.find_head(session_key).await? {
            if !removed.contains(&head.webhook_id) {
                return Ok(Some(head));
            }
            let query = query("DELETE FROM webhook_deliveries WHERE id = $1");
            self.run(query.bind(head.id)).await?;
        }
        Ok(None)
    }

    async fn list_busy_sessions(&mut self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT session_key FROM webhook_deliveries WHERE status = 'processing'";
        self.list(query(sql)).await
    }

    async fn list_due(&mut self, now: Timestamp) -> Result<Vec<Due>, StoreError> {
        let query = query(DUE).bind(now.as_millis());
        self.list(query.bind(i64::try_from(PAGE).unwrap_or(i64::MAX)))
            .await
    }

    async fn find_head(&mut self, session_key: &str) -> Result<Option<Head>, StoreError> {
        self.find(query(HEAD).bind(session_key)).await
    }

    async fn claim_one(&mut self, id: &str, want: &ClaimRequest) -> Result<(), StoreError> {
        let query = query(
            "UPDATE webhook_deliveries SET status = 'processing', attempts = attempts + 1,
                 lease_owner = $2, lease_until = $3, started_at = $4, next_attempt_at = NULL,
                 error = CASE WHEN error = $5 THEN NULL ELSE error END
             WHERE id = $1",
        );
        self.run(
            query
                .bind(id)
                .bind(&want.owner)
                .bind(want.lease_until.as_millis())
                .bind(want.now.as_millis())
                .bind(WAITS_FOR_RATE),
        )
        .await
        .map(drop)
    }

    async fn park(&mut self, ids: &[String]) -> Result<(), StoreError> {
        for page in ids.chunks(PAGE) {
            self.set_place(page, None).await?;
        }
        Ok(())
    }

    /// Gives up to [`PAGE`] deliveries a place in the queue, or takes it.
    pub(crate) async fn set_place(
        &mut self,
        ids: &[String],
        at: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        let Some(last) = ids.last() else {
            return Ok(());
        };
        let sql = page_from_2!(
            "UPDATE webhook_deliveries SET next_attempt_at = $1
             WHERE status IN ('received', 'queued') AND id IN ",
            ""
        );
        let mut query = query(sql).bind(at.map(Timestamp::as_millis));
        // One text for every length: the last is named again and again.
        for place in 0..PAGE {
            query = query.bind(ids.get(place).unwrap_or(last));
        }
        self.run(query).await.map(drop)
    }

    /// What the owner needs to work on a delivery that it has claimed; `None` when it is its own no
    /// longer.
    pub async fn find_delivery_work(
        &mut self,
        id: &DeliveryId,
        owner: &str,
    ) -> Result<Option<DeliveryWork>, StoreError> {
        let query = query(
            "SELECT id, webhook_id, event_type, session_key, received_at, started_at, attempts,
                 headers, payload, config FROM webhook_deliveries
             WHERE id = $1 AND lease_owner = $2 AND status = 'processing'",
        );
        self.find(query.bind(id.as_str()).bind(owner)).await
    }

    /// The delivery has ended, and the next of its session may run. `false`, and nothing is changed,
    /// when it is not the owner's any longer.
    pub async fn finish_delivery(
        &mut self,
        id: &DeliveryId,
        owner: &str,
        finish: &DeliveryFinish,
    ) -> Result<bool, StoreError> {
        let query = query(
            "UPDATE webhook_deliveries SET status = $3, finished_at = $4, session_id = $5,
                 input_tokens = $6, output_tokens = $7, error = $8, response_actions = $9,
                 lease_owner = NULL, lease_until = NULL, next_attempt_at = NULL
             WHERE id = $1 AND lease_owner = $2 AND status = 'processing' RETURNING session_key",
        );
        let session: Option<String> = self
            .find(
                query
                    .bind(id.as_str())
                    .bind(owner)
                    .bind(finish.status.as_str())
                    .bind(finish.finished_at.as_millis())
                    .bind(finish.session_id.as_ref().map(SessionId::as_str))
                    .bind(finish.input_tokens)
                    .bind(finish.output_tokens)
                    .bind(finish.error.as_deref())
                    .bind(&finish.response_actions),
            )
            .await?;
        let Some(session) = session else {
            return Ok(false);
        };
        self.revive_next(&session, finish.finished_at).await?;
        Ok(true)
    }

    /// The delivery goes back to the queue. `false`, and nothing is changed, when it is not the
    /// owner's any longer.
    pub async fn requeue_delivery(
        &mut self,
        id: &DeliveryId,
        owner: &str,
        requeue: &DeliveryRequeue,
    ) -> Result<bool, StoreError> {
        let query = query(
            "UPDATE webhook_deliveries SET status = 'queued', next_attempt_at = $3,
                 attempts = attempts - $4, error = $5, session_id = COALESCE($6, session_id),
                 lease_owner = NULL, lease_until = NULL
             WHERE id = $1 AND lease_owner = $2 AND status = 'processing'",
        );
        let touched = self
            .run(
                query
                    .bind(id.as_str())
                    .bind(owner)
                    .bind(requeue.next_attempt_at.map(Timestamp::as_millis))
                    .bind(i64::from(requeue.uncount))
                    .bind(requeue.error.as_deref())
                    .bind(requeue.session_id.as_ref().map(SessionId::as_str)),
            )
            .await?;
        Ok(touched > 0)
    }

    /// Gives the oldest open delivery of a session its place in the queue, if it was parked.
    async fn revive_next(&mut self, session_key: &str, now: Timestamp) -> Result<(), StoreError> {
        let Some(head) = self.find_head(session_key).await? else {
            return Ok(());
        };
        if head.is_free {
            self.set_place(&[head.id], Some(now)).await?;
        }
        Ok(())
    }

    /// When the next delivery is due, whether or not something older holds it back; `None` when the
    /// queue is empty or everything in it is parked.
    pub async fn find_next_due(&mut self) -> Result<Option<Timestamp>, StoreError> {
        let due: Option<NextDue> = self.find(query(NEXT_DUE)).await?;
        Ok(due.map(|due| due.0))
    }

    /// How many deliveries wait for a worker.
    pub async fn count_queued_deliveries(&mut self) -> Result<i64, StoreError> {
        self.number(query(
            "SELECT COUNT(*) FROM webhook_deliveries WHERE status IN ('received', 'queued')",
        ))
        .await
    }
}

struct NextDue(Timestamp);

impl FromRow for NextDue {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self(Timestamp::from_millis(row.try_get(0)?)))
    }
}

/// What is due, the longest first.
const DUE: &str = "SELECT id, session_key FROM webhook_deliveries
    WHERE status IN ('received', 'queued') AND next_attempt_at <= $1
    ORDER BY next_attempt_at, id LIMIT $2";

/// The oldest open delivery of a session.
const HEAD: &str = "SELECT id, webhook_id, status, next_attempt_at, error FROM webhook_deliveries
    WHERE session_key = $1 AND status IN ('received', 'queued', 'processing')
    ORDER BY id LIMIT 1";

/// When something is due next.
const NEXT_DUE: &str = "SELECT next_attempt_at FROM webhook_deliveries
    WHERE status IN ('received', 'queued') AND next_attempt_at IS NOT NULL
    ORDER BY next_attempt_at LIMIT 1";

#[cfg(test)]
#[path = "delivery_queue_tests.rs"]
mod tests;
