//! Claims deliveries: takes those that are due in some lines of the queue and gives each a lease.

mod choose;

use crate::deliveries::{COLUMNS, PAYLOAD};
use crate::delivery_configs::CONFIG;
use crate::delivery_pace::{Pace, Paces, WAITS_FOR_RATE};
use crate::delivery_unreadable::UNREADABLE;
use crate::delivery_waits::WAITS_FOR_BUDGET;
use crate::sql::{FromRow, Row, Value};
use crate::{Conn, DeliveryRow, StoreError};
use choose::{Claimed, Claiming, Taking};
use gatehouse_domain::{Timestamp, WebhookId};
use std::collections::HashSet;
use std::sync::LazyLock;

/// Maximum number of deliveries that one claim parks. Limits the duration of the transaction.
const PARK_LIMIT: usize = 128;

/// The factor by which each further page of a line grows. The first page has as many deliveries as requested. A
/// line whose deliveries wait for one another needs several pages.
const PAGE_GROWTH: usize = 4;

/// A worker's request for deliveries.
#[derive(Clone, Debug)]
pub struct ClaimRequest {
    /// The process that claims. The value must be unique for each start of a node.
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
    /// The claimed deliveries, by line; within a line, by due time.
    pub claimed: Vec<DeliveryWork>,
    /// Whether more deliveries may be due, because the claim stopped early.
    pub more: bool,
    /// Whether deliveries were parked or postponed instead of claimed, so that other lines can use their slots.
    pub postponed: bool,
    /// Deliveries that failed because their rows are damaged. They have only the values that can be read.
    pub failed: Vec<DeliveryRow>,
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

impl Conn {
    /// Claims due deliveries from the requested lines, earliest due first. Of each session, claims only the oldest
    /// open delivery, and none while another delivery of the session runs. The attempt is counted at the claim, so
    /// an attempt that crashes the process is counted.
    pub async fn claim_deliveries(&mut self, want: &ClaimRequest) -> Result<Claims, StoreError> {
        let mut claiming = Claiming {
            want,
            busy: HashSet::new(),
            removed: HashSet::new(),
            put_off: HashSet::new(),
            paces: Paces::new(&want.paced),
            parked: 0,
            more: false,
            failed: Vec::new(),
        };
        let mut lines: Vec<_> = want.takes.iter().map(Taking::new).collect();
        while claiming.parked < PARK_LIMIT && lines.iter().any(Taking::is_open) {
            self.claim_pages(&mut lines, &mut claiming).await?;
        }
        Ok(Claims {
            more: claiming.more || lines.iter().any(|line| !line.is_read),
            postponed: claiming.parked > 0,
            failed: claiming.failed,
            claimed: lines.into_iter().flat_map(|line| line.claimed).collect(),
        })
    }

    async fn claim_all(
        &mut self,
        ids: &[String],
        claiming: &mut Claiming<'_>,
    ) -> Result<Vec<Option<DeliveryWork>>, StoreError> {
        let want = claiming.want;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let values = |id| -> Vec<Value<'_>> {
            vec![
                Value::from(id),
                want.owner.as_str().into(),
                want.lease_until.as_millis().into(),
                want.now.as_millis().into(),
                WAITS_FOR_RATE.into(),
                WAITS_FOR_BUDGET.into(),
                UNREADABLE.into(),
            ]
        };
        let rows: Vec<_> = ids.iter().map(values).collect();
        let found = self.find_each::<Claimed>(&CLAIM, &rows).await?;
        let mut claimed = Vec::with_capacity(found.len());
        for (found, id) in found.into_iter().zip(ids) {
            claimed.push(match found {
                Some(Claimed(Ok(work))) => Some(work),
                Some(Claimed(Err(cause))) if cause.is_damaged_value() => {
                    let failed = self.fail_unreadable(id, want.now, &cause).await?;
                    claiming.failed.extend(failed);
                    claiming.more = true;
                    None
                }
                Some(Claimed(Err(cause))) => {
                    self.put_off_unreadable(id, want.now, &cause)?;
                    claiming.parked += 1;
                    None
                }
                None => None,
            });
        }
        Ok(claimed)
    }
}

/// Selects the sessions in which a delivery runs, and the deleted webhooks.
pub(crate) const BARRED: &str = "SELECT session_key AS name, CAST(1 AS BIGINT) AS is_session
        FROM webhook_deliveries WHERE status = 'processing'
    UNION ALL SELECT webhook_id, CAST(0 AS BIGINT) FROM webhook_removals";

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
             error = CASE WHEN error IN ($5, $6, $7) THEN NULL ELSE error END
         WHERE id = $1 AND status IN ('received', 'queued')
         RETURNING {COLUMNS}, {PAYLOAD}, {CONFIG}"
    )
});
