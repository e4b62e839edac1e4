//! Chooses the due deliveries to claim.

mod taking;

use super::{BARRED, ClaimRequest, DeliveryWork, PAGE_GROWTH, Take};
use crate::delivery_pace::Paces;
use crate::delivery_queue::{Head, PAGE};
use crate::sql::{FromRow, Row, columns, query};
use crate::{Conn, DeliveryRow, StoreError};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
pub(super) use taking::Taking;

/// Which delivery of a session may run.
enum Turn {
    Of(Head),
    /// None: a delivery of the session is running, or an older one in another line must run first.
    BehindAnother,
}

struct Due {
    id: String,
    session_key: String,
}

columns! { Due: id, session_key }

/// Deliveries that a claim must not run: deliveries of sessions in which a delivery runs, and deliveries of deleted
/// webhooks.
struct Barred {
    name: String,
    is_session: bool,
}

columns! { Barred: name, is_session }

/// The state of one claim.
pub(super) struct Claiming<'w> {
    pub(super) want: &'w ClaimRequest,
    pub(super) busy: HashSet<String>,
    pub(super) removed: HashSet<String>,
    /// The sessions whose oldest delivery this claim has postponed.
    pub(super) put_off: HashSet<String>,
    pub(super) paces: Paces,
    pub(super) parked: usize,
    /// Whether the claim made a delivery due in another line or behind a damaged delivery.
    pub(super) more: bool,
    pub(super) failed: Vec<DeliveryRow>,
}

/// A claimed delivery, or the reason why its row cannot be read.
pub(super) struct Claimed(pub(super) Result<DeliveryWork, StoreError>);

impl FromRow for Claimed {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self(DeliveryWork::from_row(row)))
    }
}

impl Conn {
    /// Claims from the next page of each open line. The number of round trips does not depend on the number of lines.
    pub(super) async fn claim_pages(
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
                // The time must be in the future. Otherwise the next page would begin with the same delivery.
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

    /// Returns the oldest open delivery of each session of the pages. Excludes deliveries of deleted webhooks.
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

    /// Decides which delivery to run if `due` is due. Only the oldest open delivery of a session may run. If it is
    /// parked in the same line, it runs instead of `due`. If it is parked in another line, it is made due there.
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

    /// Returns the oldest open delivery of a session. Deletes older deliveries of deleted webhooks, which must
    /// neither run nor delay deliveries of other webhooks.
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
}
