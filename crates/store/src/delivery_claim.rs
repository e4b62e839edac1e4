//! Claims deliveries: takes those that are due in some lines of the queue and gives each a lease.

use crate::deliveries::{COLUMNS, PAYLOAD};
use crate::delivery_configs::CONFIG;
use crate::delivery_pace::{Pace, Paces, WAITS_FOR_RATE};
use crate::delivery_queue::{Head, PAGE};
use crate::delivery_waits::WAITS_FOR_BUDGET;
use crate::sql::{FromRow, Row, Value, columns, query};
use crate::{Conn, DeliveryRow, StoreError};
use gatehouse_domain::{Timestamp, WebhookId};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Maximum number of deliveries that one claim parks, to hold the writer only briefly.
const PARK_LIMIT: usize = 128;

/// A worker's request for deliveries.
#[derive(Clone, Debug)]
pub struct ClaimRequest {
    /// The process that claims. The value must be unique per start of a node.
    pub owner: String,
    pub now: Timestamp,
    pub lease_until: Timestamp,
    /// The lines to claim from, in this order.
    pub takes: Vec<Take>,
    /// The webhooks with a rate limit.
    pub paced: Vec<Pace>,
}

/// The number of deliveries to claim from one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Take {
    /// A channel target, or empty for agent turns.
    pub target: String,
    pub webhook_id: WebhookId,
    pub limit: usize,
}

/// The result of a claim.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// The claimed deliveries, by line; within a line, those that were due first come first.
    pub claimed: Vec<DeliveryWork>,
    /// Whether more deliveries may be due, because the claim stopped early.
    pub more: bool,
}

/// A claimed delivery with its payload and configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryWork {
    pub row: DeliveryRow,
    pub payload: Option<String>,
    /// The webhook's configuration at receipt, as JSON text.
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

/// Which delivery of a session may run.
enum Turn {
    Of(Head),
    /// None: a delivery of the session is running, or an older one must run first.
    BehindAnother,
}

struct Due {
    id: String,
    session_key: String,
}

columns! { Due: id, session_key }

/// The state of one claim.
struct Claiming<'w> {
    want: &'w ClaimRequest,
    busy: HashSet<String>,
    removed: HashSet<String>,
    paces: Paces,
    parked: usize,
    claims: Claims,
}

impl Conn {
    /// Claims due deliveries from the requested lines, earliest due first. It claims only the oldest open
    /// delivery of a session, and none while another one of the session runs. A claim counts as an attempt,
    /// so an attempt that crashes the process is counted too.
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
            let heads = self.heads_of(&page, claiming).await?;
            let (mut to_park, mut to_claim) = (Vec::new(), Vec::new());
            for due in page {
                let turn = self.judge_due(&due, &heads, take, claiming).await?;
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
                claiming.busy.insert(due.session_key);
                to_claim.push(head.id);
                left = left.saturating_sub(1);
                if left == 0 {
                    break;
                }
            }
            self.claim_all(&to_claim, claiming).await?;
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

    /// The oldest open deliveries of the sessions of `page`, by session. A delivery of a deleted webhook is not
    /// among them.
    async fn heads_of(
        &mut self,
        page: &[Due],
        claiming: &Claiming<'_>,
    ) -> Result<HashMap<String, Head>, StoreError> {
        let sessions: HashSet<_> = page.iter().map(|due| due.session_key.as_str()).collect();
        let mut sessions: Vec<_> = sessions.into_iter().collect();
        sessions.retain(|session| !claiming.busy.contains(*session));
        let heads = self.find_heads(&sessions).await?;
        let mut living = HashMap::with_capacity(heads.len());
        for (session, head) in sessions.into_iter().zip(heads) {
            let head = match head {
                Some(head) if claiming.removed.contains(&head.webhook_id) => {
                    self.find_living_head(session, &claiming.removed).await?
                }
                head => head,
            };
            living.extend(head.map(|head| (session.to_owned(), head)));
        }
        Ok(living)
    }

    /// Decides which delivery to run if `due` is due. Only the oldest open delivery of a session may run. If
    /// it is parked in the same line, it runs in place of `due`; if it is parked in another line, it becomes
    /// due there.
    async fn judge_due(
        &mut self,
        due: &Due,
        heads: &HashMap<String, Head>,
        take: &Take,
        claiming: &mut Claiming<'_>,
    ) -> Result<Turn, StoreError> {
        if claiming.busy.contains(&due.session_key) {
            return Ok(Turn::BehindAnother);
        }
        let head = heads.get(&due.session_key);
        let Some(head) = head.filter(|head| head.id == due.id || head.is_free) else {
            return Ok(Turn::BehindAnother);
        };
        let is_in_line = head.target.as_deref() == Some(take.target.as_str())
            && head.webhook_id == take.webhook_id.as_str();
        if head.id == due.id || is_in_line {
            return Ok(Turn::Of(head.clone()));
        }
        self.set_place(std::slice::from_ref(&head.id), Some(claiming.want.now))
            .await?;
        claiming.claims.more = true;
        Ok(Turn::BehindAnother)
    }

    /// Returns the oldest open delivery of a session. Deletes older ones whose webhook was deleted: they must
    /// neither run nor hold back deliveries of other webhooks.
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

    async fn claim_all(
        &mut self,
        ids: &[String],
        claiming: &mut Claiming<'_>,
    ) -> Result<(), StoreError> {
        let want = claiming.want;
        let values = |id| -> Vec<Value<'_>> {
            vec![
                Value::from(id),
                want.owner.as_str().into(),
                want.lease_until.as_millis().into(),
                want.now.as_millis().into(),
                WAITS_FOR_RATE.into(),
                WAITS_FOR_BUDGET.into(),
            ]
        };
        let rows: Vec<_> = ids.iter().map(values).collect();
        let claimed = self.find_each::<DeliveryWork>(&CLAIM, &rows).await?;
        claiming
            .claims
            .claimed
            .extend(claimed.into_iter().flatten());
        Ok(())
    }
}

/// Selects due deliveries of a line, earliest due first.
pub(crate) const DUE: &str = "SELECT id, session_key FROM webhook_deliveries
    WHERE status IN ('received', 'queued') AND next_attempt_at IS NOT NULL AND target IS NOT NULL
        AND target = $1 AND webhook_id = $2 AND next_attempt_at <= $3
    ORDER BY next_attempt_at, id LIMIT $4";

/// Gives the caller the lease of a delivery and returns the delivery.
static CLAIM: LazyLock<String> = LazyLock::new(|| {
    format!(
        "UPDATE webhook_deliveries SET status = 'processing', attempts = attempts + 1,
             lease_owner = $2, lease_until = $3, started_at = $4, next_attempt_at = NULL,
             error = CASE WHEN error IN ($5, $6) THEN NULL ELSE error END
         WHERE id = $1 AND status IN ('received', 'queued')
         RETURNING {COLUMNS}, {PAYLOAD}, {CONFIG}"
    )
});
