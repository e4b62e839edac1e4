//! Lists and counts of rows of the audit log.

use super::AuditRow;
use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

struct KindCount(String, i64);

impl FromRow for KindCount {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self(row.try_get("kind")?, row.try_get("counted")?))
    }
}

/// Filter and range of a listing.
#[derive(Clone, Debug, Default)]
pub struct AuditPage {
    /// Only rows before this position; `i64::MAX` starts at the newest.
    pub before_seq: i64,
    /// Only events of this kind.
    pub kind: Option<String>,
    /// Only events by this actor, as in [`AuditRow::actor`].
    pub actor: Option<String>,
    /// Start of the period, inclusive.
    pub from: Option<Timestamp>,
    /// End of the period, exclusive.
    pub until: Option<Timestamp>,
    /// Maximum number of rows.
    pub limit: i64,
}

/// Returns the query for a page of events. The filter by kind is a plain equality, so that the database uses its
/// index.
pub(super) const fn list(has_kind: bool) -> &'static str {
    if has_kind {
        "SELECT * FROM audit_log WHERE seq < $1 AND kind = $2
           AND (actor = $4 OR $4 = '') AND at >= $5 AND at < $6
         ORDER BY seq DESC LIMIT $3"
    } else {
        "SELECT * FROM audit_log WHERE seq < $1 AND $2 = ''
           AND (actor = $4 OR $4 = '') AND at >= $5 AND at < $6
         ORDER BY seq DESC LIMIT $3"
    }
}

impl Conn {
    /// Lists events, newest first.
    pub async fn list_audit(&mut self, page: &AuditPage) -> Result<Vec<AuditRow>, StoreError> {
        let kind = page.kind.as_deref().unwrap_or_default();
        let query = query(list(!kind.is_empty()));
        let actor = page.actor.as_deref().unwrap_or_default();
        let query = query.bind(page.before_seq).bind(kind).bind(page.limit);
        let from = page.from.map_or(i64::MIN, Timestamp::as_millis);
        let until = page.until.map_or(i64::MAX, Timestamp::as_millis);
        self.list(query.bind(actor).bind(from).bind(until)).await
    }

    /// Returns the number of rows of each kind that an actor has produced since the given time.
    pub async fn count_audit_kinds(
        &mut self,
        actor: &str,
        since: Timestamp,
    ) -> Result<Vec<(String, i64)>, StoreError> {
        let query = query(
            "SELECT kind, COUNT(*) AS counted FROM audit_log WHERE actor = $1 AND at >= $2
             GROUP BY kind ORDER BY kind",
        );
        let rows: Vec<KindCount> = self.list(query.bind(actor).bind(since.as_millis())).await?;
        Ok(rows
            .into_iter()
            .map(|KindCount(kind, count)| (kind, count))
            .collect())
    }
}
