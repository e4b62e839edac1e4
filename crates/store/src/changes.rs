//! Table `changes`: the change feed for other nodes on the same database. A row is written in the transaction
//! that makes the change. Numbers grow in commit order because transactions of `Store::write` run one at a
//! time.

use crate::sql::{FromRow, Row, columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// How long a change is kept, in milliseconds. A node may be disconnected for less time than this and still read
/// all changes.
const KEPT_MS: i64 = 3_600_000;

/// A row of `changes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRow {
    pub seq: i64,
    /// The changed object, such as `auth_sessions`, `auth_state`, `settings`, `vault` or `agents`.
    pub subject: String,
}

columns! { ChangeRow: seq, subject }

/// The result of reading the feed from an earlier position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewChanges {
    /// The changes after the position of the earlier read, oldest first.
    pub rows: Vec<ChangeRow>,
    /// The number of the newest change; 0 if there is none. Smaller than the position if the database was replaced
    /// by an older copy.
    pub last: i64,
    /// Identifies a run of the server, which ends with a crash or with the takeover by a replica. Empty on SQLite
    /// and directly after a crash; `None` if there are no changes.
    pub server_run: Option<String>,
}

/// A change and the run of the server at the time of the read.
struct FeedRow {
    change: ChangeRow,
    server_run: String,
}

impl FromRow for FeedRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            change: ChangeRow::from_row(row)?,
            server_run: row.try_get("server_run")?,
        })
    }
}

impl Conn {
    /// Reports a change to subscribers in this process, after the commit.
    pub(crate) fn note_change(&mut self, subject: &str) {
        if !self.changed.iter().any(|known| known == subject) {
            self.changed.push(subject.to_owned());
        }
    }

    /// Records a change for other nodes and, after the commit, for subscribers in this process.
    pub async fn insert_change(&mut self, subject: &str, now: Timestamp) -> Result<(), StoreError> {
        self.note_change(subject);
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
    #[cfg(feature = "testing")]
    pub async fn list_changes(&mut self, after: i64) -> Result<Vec<ChangeRow>, StoreError> {
        let query = query("SELECT seq, subject FROM changes WHERE seq > $1 ORDER BY seq");
        self.list(query.bind(after)).await
    }

    /// Returns the changes after the position of an earlier read, and the data to check that the database is the
    /// same one.
    pub async fn list_new_changes(&mut self, after: i64) -> Result<NewChanges, StoreError> {
        let rows: Vec<FeedRow> = self
            .list(query(self.engine().list_feed()).bind(after))
            .await?;
        let newest = rows.last();
        Ok(NewChanges {
            last: newest.map_or(0, |row| row.change.seq),
            server_run: newest.map(|row| row.server_run.clone()),
            rows: rows
                .into_iter()
                .map(|row| row.change)
                .filter(|change| change.seq > after)
                .collect(),
        })
    }

    /// Returns the newest number; 0 if there are no changes.
    pub async fn find_last_change(&mut self) -> Result<i64, StoreError> {
        self.number(query("SELECT COALESCE(MAX(seq), 0) FROM changes"))
            .await
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::plan_of;
    use crate::testing::{TestDatabase, databases, postgres, run_sql, sqlite};
    use crate::{Engine, NewChanges, Store, StoreError};
    use gatehouse_domain::Timestamp;

    async fn change(store: &Store, subject: &'static str, at: i64) {
        let at = Timestamp::from_millis(at);
        let written: Result<(), StoreError> = store
            .write(move |conn| Box::pin(async move { conn.insert_change(subject, at).await }))
            .await;
        written.unwrap();
    }

    async fn read(store: &Store, after: i64) -> NewChanges {
        let read: Result<NewChanges, StoreError> = store
            .read(move |conn| Box::pin(async move { conn.list_new_changes(after).await }))
            .await;
        read.unwrap()
    }

    fn numbers(new: &NewChanges) -> Vec<i64> {
        new.rows.iter().map(|row| row.seq).collect()
    }

    async fn with_two_changes(database: &TestDatabase) -> (Store, i64) {
        let store = database.open().await;
        change(&store, "one", 1).await;
        change(&store, "two", 2).await;
        let last: Result<i64, StoreError> = store
            .read(|conn| Box::pin(async move { conn.find_last_change().await }))
            .await;
        let last = last.unwrap();
        (store, last)
    }

    #[tokio::test]
    async fn the_new_changes_are_those_after_the_position() {
        for database in databases().await {
            let (store, last) = with_two_changes(&database).await;
            assert_eq!(numbers(&read(&store, last - 1).await), [last]);
            let none = read(&store, last).await;
            assert_eq!((numbers(&none), none.last), (vec![], last));
            store.close().await;
        }
    }

    #[tokio::test]
    async fn a_database_of_an_earlier_moment_is_noticed_by_its_last_number() {
        for database in databases().await {
            let (store, last) = with_two_changes(&database).await;
            let statement = format!("DELETE FROM changes WHERE seq = {last}");
            run_sql(&database.location, &statement).await;
            let older = read(&store, last).await;
            assert_eq!((numbers(&older), older.last), (vec![], last - 1));
            run_sql(&database.location, "DELETE FROM changes").await;
            assert_eq!(read(&store, last).await, NewChanges::default());
            store.close().await;
        }
    }

    #[tokio::test]
    async fn a_server_that_took_over_is_noticed_by_its_run() {
        let Some(database) = postgres().await else {
            return;
        };
        let (store, last) = with_two_changes(&database).await;
        let before = read(&store, last).await.server_run.unwrap();
        assert!(!before.is_empty());
        run_sql(&database.location, "UPDATE _server_run SET id = 'another'").await;
        let after = read(&store, last).await.server_run;
        assert_eq!(after.as_deref(), Some("another"));
        run_sql(&database.location, "DELETE FROM _server_run").await;
        let unknown = read(&store, last).await.server_run;
        assert_eq!(unknown.as_deref(), Some(""));
        store.close().await;
    }

    #[tokio::test]
    async fn the_feed_is_read_by_its_key() {
        let database = sqlite();
        let store = database.open().await;
        let sql = Engine::Sqlite.list_feed().replace("$1", "5");
        let plan = plan_of(&store, &sql).await;
        assert!(plan.contains("SEARCH changes USING INDEX"), "{plan}");
        assert!(!plan.contains("SCAN changes\n"), "{plan}");
        store.close().await;
    }
}
