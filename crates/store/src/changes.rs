//! Table `changes`: the change feed for other nodes on the same database. A row is written in the transaction
//! that makes the change. Numbers grow in commit order because transactions of `Store::write` run one at a
//! time.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// How long a change is kept, in milliseconds. Longer than a node may be disconnected and still be expected
/// to catch up.
const KEPT_MS: i64 = 3_600_000;

/// A row of `changes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRow {
    pub seq: i64,
    /// The changed object, such as `auth_sessions`, `auth_state`, `settings`, `vault` or `agents`.
    pub subject: String,
}

columns! { ChangeRow: seq, subject }

impl Conn {
    /// Records a change for other nodes and, after the commit, for subscribers in this process.
    pub async fn insert_change(&mut self, subject: &str, now: Timestamp) -> Result<(), StoreError> {
        if !self.changed.iter().any(|known| known == subject) {
            self.changed.push(subject.to_owned());
        }
        let insert = query(self.engine().insert_change());
        self.list::<String>(insert.bind(subject).bind(now.as_millis()))
            .await?;
        // The newest row is always kept, so that numbers never restart.
        let old = "DELETE FROM changes WHERE at < $1 AND seq < (SELECT MAX(seq) FROM changes)";
        let before = now.as_millis().saturating_sub(KEPT_MS);
        self.run_later(old, vec![before.into()])
    }

    /// Wakes every listener of [`crate::Store::notified`], on all nodes, after the commit. Does nothing on SQLite,
    /// which has one node.
    pub async fn notify_nodes(&mut self) -> Result<(), StoreError> {
        match self.engine().notify() {
            Some(statement) => self.plain(statement).await,
            None => Ok(()),
        }
    }

    /// Returns changes after the given number, oldest first.
    pub async fn list_changes(&mut self, after: i64) -> Result<Vec<ChangeRow>, StoreError> {
        let query = query("SELECT seq, subject FROM changes WHERE seq > $1 ORDER BY seq");
        self.list(query.bind(after)).await
    }

    /// Returns the newest number; 0 if there are no changes.
    pub async fn find_last_change(&mut self) -> Result<i64, StoreError> {
        self.number(query("SELECT COALESCE(MAX(seq), 0) FROM changes"))
            .await
    }
}
