//! Claims deliveries: takes those that are due in some lines of the queue and gives each a lease.

use crate::deliveries::{COLUMNS, PAYLOAD};
use crate::delivery_configs::CONFIG;
use crate::delivery_pace::{Pace, Paces, WAITS_FOR_RATE};
use crate::delivery_queue::{Head, PAGE};
use crate::delivery_unreadable::UNREADABLE;
use crate::delivery_waits::WAITS_FOR_BUDGET;
use crate::sql::{FromRow, Query, Row, Value, columns, query};
use crate::{Conn, DeliveryRow, StoreError};
use gatehouse_domain::{Timestamp, WebhookId};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;
use std::time::Duration;

/// Maximum number of deliveries that one claim parks, to hold the writer only briefly.
const PARK_LIMIT: usize = 128;

/// The factor by which each further page of a line grows. The first has as many deliveries as requested. A line whose
/// deliveries wait for one another needs more pages, but only a few.
const PAGE_GROWTH: usize = 4;

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
    /// The claimed deliveries, by line; within a line, by due time.
    pub claimed: Vec<DeliveryWork>,
    /// Whether more deliveries may be due, because the claim stopped early.
    pub more: bool,
    /// Whether deliveries were parked or put off instead of claimed, so other lines can have their slots.
    pub postponed: bool,
    /// Deliveries that failed because their rows are damaged, with the readable values.
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

/// Deliveries that a claim must not run: of a session in which a delivery runs, or of a deleted webhook.
struct Barred {
    name: String,
    is_session: bool,
}

columns! { Barred: name, is_session }

/// A line from which a claim takes.
struct Taking<'w> {
    take: &'w Take,
    /// Number of deliveries still to claim.
    left: usize,
    /// Number of deliveries to read at once.
    page: usize,
    /// Whether everything that is due has been read.
    is_read: bool,
    claimed: Vec<DeliveryWork>,
}

impl<'w> Taking<'w> {
    fn new(take: &'w Take) -> Self {
        Self {
            take,
            left: take.limit,
            page: take.limit.min(PAGE),
            is_read: take.limit == 0,
            claimed: Vec::new(),
        }
    }

    fn due(&self, now: Timestamp) -> Query<'w> {
        query(DUE)
            .bind(&self.take.target)
            .bind(self.take.webhook_id.as_str())
            .bind(now.as_millis())
            .bind(i64::try_from(self.page).unwrap_or(i64::MAX))
    }

    const fn is_open(&self) -> bool {
        self.left > 0 && !self.is_read
    }
}

/// The state of one claim.
struct Claiming<'w> {
    want: &'w ClaimRequest,
    busy: HashSet<String>,
    removed: HashSet<String>,
    /// The sessions whose oldest delivery this claim has put off.
    put_off: HashSet<String>,
    paces: Paces,
    parked: usize,
    /// Whether a delivery of another line, or one behind a damaged delivery, became due.
    more: bool,
    failed: Vec<DeliveryRow>,
}

/// A claimed delivery, or the reason why its row cannot be read.
struct Claimed(Result<DeliveryWork, StoreError>);

impl FromRow for Claimed {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self(DeliveryWork::from_row(row)))
    }
}

impl Conn {
    /// Claims due deliveries from the requested lines, earliest due first. It claims only the oldest open
    /// delivery of a session, and none while another one of the session runs. A claim counts as an attempt,
    /// so an attempt that crashes the process is counted too.
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

    /// Claims from the next page of each open line. The number of round trips does not depend on the number of lines.
    async fn claim_pages(
        &mut self,
        lines: &mut [Taking<'_>],
        claiming: &mut Claiming<'_>,
    ) -> Result<(), StoreError> {
        let now = claiming.want.now;
        let mut open: Vec<_> = lines.iter_mut().filter(|line| line.is_open()).collect();
        let due: Vec<_> = open.iter().map(|line| line.due(now)).collect();
        let (barred, pages) = self.lists::<Barred, Due>(&query(BARRED), &due).await?;
        for Barred { name, is_session } in barred {
            if is_session {
                claiming.busy.insert(name);
            } else {
                claiming.removed.insert(name);
            }
        }
        let heads = self.heads_of(&pages, claiming).await?;
        let mut ids = Vec::new();
        let mut places = Vec::new();
        for (place, (line, page)) in open.iter_mut().zip(pages).enumerate() {
            line.is_read = page.len() < line.page;
            line.page = line.page.saturating_mul(PAGE_GROWTH).min(PAGE);
            let chosen = self.choose(line, page, &heads, claiming)?;
            places.extend(chosen.iter().map(|_| place));
            ids.extend(chosen);
        }
        let claimed = self.claim_all(&ids, claiming).await?;
        for (work, place) in claimed.into_iter().zip(places) {
            if let (Some(work), Some(line)) = (work, open.get_mut(place)) {
                line.claimed.push(work);
            }
        }
        Ok(())
    }

    /// Chooses the deliveries to claim from a page of a line, and parks or postpones the others.
    fn choose(
        &mut self,
        line: &mut Taking<'_>,
        page: Vec<Due>,
        heads: &HashMap<String, Head>,
        claiming: &mut Claiming<'_>,
    ) -> Result<Vec<String>, StoreError> {
        let (mut to_park, mut to_claim) = (Vec::new(), Vec::new());
        for due in page {
            if line.left == 0 {
                line.is_read = false;
                break;
            }
            let head = heads.get(&due.session_key);
            if head.is_some_and(|head| head.id == due.id)
                && claiming.put_off.contains(&due.session_key)
            {
                continue;
            }
            let head = match self.judge_due(&due, heads, line.take, claiming)? {
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
                // Later than now, or the next page would begin with it.
                let until = until.max(claiming.want.now.after(Duration::from_millis(1)));
                self.put_off(&head.id, until)?;
                claiming.put_off.insert(due.session_key);
                claiming.parked += 1;
                continue;
            }
            claiming.busy.insert(due.session_key);
            to_claim.push(head.id);
            line.left = line.left.saturating_sub(1);
        }
        claiming.parked += to_park.len();
        self.park(&to_park)?;
        Ok(to_claim)
    }

    /// The oldest open deliveries of the sessions of the pages, by session. A delivery of a deleted webhook is not
    /// among them.
    async fn heads_of(
        &mut self,
        pages: &[Vec<Due>],
        claiming: &Claiming<'_>,
    ) -> Result<HashMap<String, Head>, StoreError> {
        let all = pages.iter().flatten();
        let sessions: HashSet<_> = all.map(|due| due.session_key.as_str()).collect();
        let mut sessions: Vec<_> = sessions.into_iter().collect();
        sessions.retain(|session| !claiming.busy.contains(*session));
        if sessions.is_empty() {
            return Ok(HashMap::new());
        }
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
    fn judge_due(
        &mut self,
        due: &Due,
        heads: &HashMap<String, Head>,
        take: &Take,
        claiming: &mut Claiming<'_>,
    ) -> Result<Turn, StoreError> {
        let session = &due.session_key;
        if claiming.busy.contains(session) || claiming.put_off.contains(session) {
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
        self.set_place(std::slice::from_ref(&head.id), Some(claiming.want.now))?;
        claiming.more = true;
        Ok(Turn::BehindAnother)
    }

    /// Returns the oldest open delivery of a session. Deletes older deliveries of deleted webhooks: they must neither
    /// run nor delay deliveries of other webhooks.
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
