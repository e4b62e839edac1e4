//! Table `changes`: what changed, for the other nodes on the same database. Written in the transaction
//! that makes the change; numbers grow with commits because one transaction of `Store::write` runs at a time.

use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// How long a change is kept: longer than any node may be deaf and still be trusted to catch up.
const KEPT_MS: i64 = 3_600_000;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRow {
    /// Its number.
    pub seq: i64,
    /// What changed, such as `auth_sessions`, `auth_state`, `settings`, `vault`, `agents`.
    pub subject: String,
}

impl FromRow for ChangeRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            seq: row.try_get("seq")?,
            subject: row.try_get("subject")?,
        })
    }
}

impl Conn {
    /// Notes that something changed: for the other nodes, and, after the commit, for who listens here.
    pub async fn insert_change(&mut self, subject: &str, now: Timestamp) -> Result<(), StoreError> {
        if !self.changed.iter().any(|known| known == subject) {
            self.changed.push(subject.to_owned());
        }
        let insert = query(self.engine().insert_change());
        self.list::<String>(insert.bind(subject).bind(now.as_millis()))
            .await?;
        // The newest stays whatever its age, so that numbers never start again.
        let old =
            query("DELETE FROM changes WHERE at < $1 AND seq < (SELECT MAX(seq) FROM changes)");
        self.run(old.bind(now.as_millis().saturating_sub(KEPT_MS)))
            .await
            .map(drop)
    }

    /// Wakes whoever listens to [`crate::Store::notified`] on any node, after the commit. Nothing to do where there
    /// is one node.
    pub async fn notify_nodes(&mut self) -> Result<(), StoreError> {
        match self.engine().notify() {
            Some(statement) => self.plain(statement).await,
            None => Ok(()),
        }
    }

    /// What changed after the given number, oldest first.
    pub async fn list_changes(&mut self, after: i64) -> Result<Vec<ChangeRow>, StoreError> {
        let query = query("SELECT seq, subject FROM changes WHERE seq > $1 ORDER BY seq");
        self.list(query.bind(after)).await
    }

    /// The newest number; 0 when nothing changed yet.
    pub async fn find_last_change(&mut self) -> Result<i64, StoreError> {
        self.number(query("SELECT COALESCE(MAX(seq), 0) FROM changes"))
            .await
    }
}
