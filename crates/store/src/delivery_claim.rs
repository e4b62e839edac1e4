//! Claiming deliveries: a lease on what is due in some lines of the queue.

use crate::deliveries::{COLUMNS, PAYLOAD};
use crate::delivery_configs::CONFIG;
use crate::delivery_pace::{Pace, Paces, WAITS_FOR_RATE};
use crate::delivery_queue::{Head, PAGE};
use crate::sql::{FromRow, Row, query};
use crate::{Conn, DeliveryRow, StoreError};
use gatehouse_domain::{Timestamp, WebhookId};
use std::collections::HashSet;
use std::sync::LazyLock;

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
    /// From which lines, in this order.
    pub takes: Vec<Take>,
    /// Webhooks that run their deliveries at a rate.
    pub paced: Vec<Pace>,
}

/// How much to claim from one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Take {
    /// The channel target; empty for turns of agents.
    pub target: String,
    /// The webhook.
    pub webhook_id: WebhookId,
    /// How many at most.
    pub limit: usize,
}

/// What a worker got.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// The deliveries that are now its own, line by line, the longest due first.
    pub claimed: Vec<DeliveryWork>,
    /// Whether more may be due: the claim stopped before it had looked at everything.
    pub more: bool,
}

/// A claimed delivery, with all that a run needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryWork {
    /// The delivery.
    pub row: DeliveryRow,
    /// The payload, as it was stored.
    pub payload: Option<String>,
    /// The webhook's configuration when it came, as JSON text.
    pub config: Option<String>,
}

impl FromRow for DeliveryWork {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            row: DeliveryRow::from_row(row)?,
            payload: row.try_get("payload")?,
            config: row.try_get("config")?,
        })
    }
}

/// Whose turn it is in a session.
enum Turn {
    Of(Head),
    /// An older one is open, or a delivery of the session runs.
    BehindAnother,
}

/// A due delivery and its session.
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

/// What one claim has seen and got so far.
struct Claiming<'w> {
    want: &'w ClaimRequest,
    busy: HashSet<String>,
    removed: HashSet<String>,
    paces: Paces,
    parked: usize,
    claims: Claims,
}

impl Conn {
    /// Claims what is due in these lines, the longest due first, at most one for each session and only its
    /// oldest. The claim counts as an attempt, so that one which ends the process is counted too.
    pub async fn claim_deliveries(&mut self, want: &ClaimRequest) -> Result<Claims, StoreError> {
        let mut claiming = Claiming {
            want,
            busy: self.list_busy_sessions().await?.into_iter().collect(),
            removed: self.list_webhook_removals().await?.into_iter().collect(),
            paces: Paces::new(&want.paced),
            parked: 0,
            claims: Claims::default(),
        };
        for take in &want.takes {
            if claiming.parked >= PARK_LIMIT {
                claiming.claims.more = true;
                break;
            }
            self.claim_line(take, &mut claiming).await?;
        }
        Ok(claiming.claims)
    }

    async fn claim_line(
        &mut self,
        take: &Take,
        claiming: &mut Claiming<'_>,
    ) -> Result<(), StoreError> {
        let mut left = take.limit;
        while left > 0 {
            let page_size = left.min(PAGE);
            let page = self.list_due(take, claiming.want.now, page_size).await?;
            let is_last = page.len() < page_size;
            let mut to_park = Vec::new();
            for due in page {
                let turn = self.judge_due(&due, take, claiming).await?;
                let head = match turn {
                    Turn::Of(head) => head,
                    Turn::BehindAnother => {
                        to_park.push(due.id);
                        continue;
                    }
                };
                if head.id != due.id {
                    to_park.push(due.id);
                }
                if let Err(until) = claiming.paces.take(&head.webhook_id) {
                    self.put_off(&head.id, until).await?;
                    claiming.parked += 1;
                    continue;
                }
                self.claim_one(&head.id, due.session_key, claiming).await?;
                left = left.saturating_sub(1);
                if left == 0 {
                    break;
                }
            }
            claiming.parked += to_park.len();
            self.park(&to_park).await?;
            if is_last {
                return Ok(());
            }
            if claiming.parked >= PARK_LIMIT {
                break;
            }
        }
        claiming.claims.more = true;
        Ok(())
    }

    /// Only the oldest delivery of a session may run. One that waits for nothing runs in place of a younger one
    /// of its line; in another line it gets its place there.
    async fn judge_due(
        &mut self,
        due: &Due,
        take: &Take,
        claiming: &mut Claiming<'_>,
    ) -> Result<Turn, StoreError> {
        if claiming.busy.contains(&due.session_key) {
            return Ok(Turn::BehindAnother);
        }
        let head = self
            .find_living_head(&due.session_key, &claiming.removed)
            .await?;
        let Some(head) = head.filter(|head| head.id == due.id || head.is_free) else {
            return Ok(Turn::BehindAnother);
        };
        let is_in_line = head.target.as_deref() == Some(take.target.as_str())
            && head.webhook_id == take.webhook_id.as_str();
        if head.id == due.id || is_in_line {
            return Ok(Turn::Of(head));
        }
        self.set_place(&[head.id], Some(claiming.want.now)).await?;
        claiming.claims.more = true;
        Ok(Turn::BehindAnother)
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

    async fn list_due(
        &mut self,
        take: &Take,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Due>, StoreError> {
        let query = query(DUE)
            .bind(take.target.clone())
            .bind(take.webhook_id.as_str().to_owned())
            .bind(now.as_millis());
        self.list(query.bind(i64::try_from(limit).unwrap_or(i64::MAX)))
            .await
    }

    async fn claim_one(
        &mut self,
        id: &str,
        session_key: String,
        claiming: &mut Claiming<'_>,
    ) -> Result<(), StoreError> {
        let want = claiming.want;
        let query = query(CLAIM.as_str())
            .bind(id.to_owned())
            .bind(want.owner.clone())
            .bind(want.lease_until.as_millis())
            .bind(want.now.as_millis())
            .bind(WAITS_FOR_RATE);
        let Some(work) = self.find::<DeliveryWork>(query).await? else {
            return Ok(());
        };
        claiming.busy.insert(session_key);
        claiming.claims.claimed.push(work);
        Ok(())
    }
}

/// What is due in a line, the longest first.
pub(crate) const DUE: &str = "SELECT id, session_key FROM webhook_deliveries
    WHERE status IN ('received', 'queued') AND next_attempt_at IS NOT NULL AND target IS NOT NULL
        AND target = $1 AND webhook_id = $2 AND next_attempt_at <= $3
    ORDER BY next_attempt_at, id LIMIT $4";

/// Makes a delivery the claimer's own, and reads it whole.
static CLAIM: LazyLock<String> = LazyLock::new(|| {
    format!(
        "UPDATE webhook_deliveries SET status = 'processing', attempts = attempts + 1,
             lease_owner = $2, lease_until = $3, started_at = $4, next_attempt_at = NULL,
             error = CASE WHEN error = $5 THEN NULL ELSE error END
         WHERE id = $1 AND status IN ('received', 'queued')
         RETURNING {COLUMNS}, {PAYLOAD}, {CONFIG}"
    )
});
