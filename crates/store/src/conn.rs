//! A connection, and the few ways in which the aggregates use it.

use crate::dialect::Engine;
use crate::postgres::TransactionId;
use crate::sql::{FromRow, Query, Value, query};
use crate::{StoreError, fault, postgres, sqlite};
use deadpool_postgres::Object;
use std::time::Duration;

/// How long a server may take to answer a statement: longer than it waits for a lock or works on one.
const ANSWER: Duration = Duration::from_secs(12);

/// A connection to the database; each aggregate adds its statements as methods.
#[derive(Debug)]
pub struct Conn {
    pub(crate) raw: Raw,
    /// Subjects that were noted as changed since the transaction began.
    pub(crate) changed: Vec<String>,
    /// Set once a statement was not answered: what comes next would wait behind it.
    is_silent: bool,
}

/// The driver's connection.
#[derive(Debug)]
pub(crate) enum Raw {
    /// Every statement blocks the thread, and no future of this crate waits.
    Sqlite(rusqlite::Connection),
    Postgres(Object),
}

impl Conn {
    pub(crate) const fn new(raw: Raw) -> Self {
        Self {
            raw,
            changed: Vec::new(),
            is_silent: false,
        }
    }

    pub(crate) const fn engine(&self) -> Engine {
        match self.raw {
            Raw::Sqlite(_) => Engine::Sqlite,
            Raw::Postgres(_) => Engine::Postgres,
        }
    }

    /// Whether it can be used once more.
    pub(crate) fn is_usable(&self) -> bool {
        !self.is_silent
            && match &self.raw {
                Raw::Sqlite(_) => true,
                Raw::Postgres(client) => !client.is_closed(),
            }
    }

    pub(crate) const fn mark_unusable(&mut self) {
        self.is_silent = true;
    }

    /// Closes the connection: its state is unknown.
    pub(crate) fn discard(self) {
        if let Raw::Postgres(client) = self.raw {
            drop(Object::take(client));
        }
    }

    /// Gives the connection back to its pool, or closes it if it is not usable.
    pub(crate) fn give_back(self) {
        if !self.is_usable() {
            self.discard();
        }
    }

    /// Waits for an answer of the server, at most [`ANSWER`].
    async fn in_time<T>(
        is_silent: &mut bool,
        answer: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        if let Ok(answered) = tokio::time::timeout(ANSWER, answer).await {
            return answered;
        }
        *is_silent = true;
        Err(StoreError::unavailable(
            "the database server does not answer",
        ))
    }

    /// Runs a statement that changes something; the number of rows it touched.
    pub(crate) async fn run(&mut self, query: Query<'_>) -> Result<u64, StoreError> {
        fault::point();
        match &mut self.raw {
            Raw::Sqlite(db) => sqlite::run(db, &query),
            Raw::Postgres(client) => {
                Self::in_time(&mut self.is_silent, postgres::run(client, &query)).await
            }
        }
    }

    /// Runs a statement once for each row of values; how many rows of the table each touched. PostgreSQL gets
    /// all of them before it has answered the first.
    pub(crate) async fn run_each(
        &mut self,
        sql: &str,
        rows: &[Vec<Value<'_>>],
    ) -> Result<Vec<u64>, StoreError> {
        fault::point();
        match &mut self.raw {
            Raw::Sqlite(db) => sqlite::run_each(db, sql, rows),
            Raw::Postgres(client) => {
                let answer = postgres::run_each(client, sql, rows);
                Self::in_time(&mut self.is_silent, answer).await
            }
        }
    }

    /// Runs a statement without parameters, such as a pragma or `BEGIN`.
    pub(crate) async fn plain(&mut self, sql: &'static str) -> Result<(), StoreError> {
        fault::point();
        match &mut self.raw {
            Raw::Sqlite(db) => sqlite::plain(db, sql),
            Raw::Postgres(client) => {
                let answer = async { Ok(client.batch_execute(sql).await?) };
                Self::in_time(&mut self.is_silent, answer).await
            }
        }
    }

    /// Runs several statements without parameters, however long they take.
    pub(crate) async fn script(&mut self, sql: &'static str) -> Result<(), StoreError> {
        match &mut self.raw {
            Raw::Sqlite(db) => Ok(db.execute_batch(sql)?),
            Raw::Postgres(client) => Ok(client.batch_execute(sql).await?),
        }
    }

    /// Begins a transaction; its id, where the engine can say later how it ended.
    pub(crate) async fn begin(
        &mut self,
        sql: &'static str,
    ) -> Result<Option<TransactionId>, StoreError> {
        fault::point();
        match &mut self.raw {
            Raw::Sqlite(db) => sqlite::plain(db, sql).map(|()| None),
            Raw::Postgres(client) => {
                let answer = postgres::begin(client, sql);
                Self::in_time(&mut self.is_silent, answer).await.map(Some)
            }
        }
    }

    /// Whether a transaction was committed; `None` when that is not known.
    pub(crate) async fn was_committed(
        &mut self,
        id: &TransactionId,
    ) -> Result<Option<bool>, StoreError> {
        match &mut self.raw {
            Raw::Sqlite(_) => Ok(None),
            Raw::Postgres(client) => {
                let answer = postgres::was_committed(client, id);
                Self::in_time(&mut self.is_silent, answer).await
            }
        }
    }

    /// Reads rows until `enough` says so of the last one. The others are not read.
    async fn list_until<T: FromRow>(
        &mut self,
        query: Query<'_>,
        enough: impl FnMut(&T) -> bool,
    ) -> Result<Vec<T>, StoreError> {
        match &mut self.raw {
            Raw::Sqlite(db) => sqlite::list(db, &query, enough),
            Raw::Postgres(client) => {
                Self::in_time(&mut self.is_silent, postgres::list(client, &query, enough)).await
            }
        }
    }

    /// The one row there may be.
    pub(crate) async fn find<T: FromRow>(
        &mut self,
        query: Query<'_>,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.list_until(query, |_| true).await?.into_iter().next())
    }

    /// All rows.
    pub(crate) async fn list<T: FromRow>(
        &mut self,
        query: Query<'_>,
    ) -> Result<Vec<T>, StoreError> {
        self.list_until(query, |_| false).await
    }

    /// The first rows whose sizes together are within a limit, and the one that goes past it. The others are
    /// not read.
    pub(crate) async fn list_within<T: FromRow>(
        &mut self,
        query: Query<'_>,
        max_bytes: usize,
        size: impl Fn(&T) -> usize,
    ) -> Result<Vec<T>, StoreError> {
        let mut bytes = 0_usize;
        self.list_until(query, |row| {
            bytes = bytes.saturating_add(size(row));
            bytes > max_bytes
        })
        .await
    }

    /// One number, such as a count.
    pub(crate) async fn number(&mut self, query: Query<'_>) -> Result<i64, StoreError> {
        self.find(query).await?.ok_or(StoreError::Damaged {
            what: "answer to a count",
        })
    }

    pub(crate) async fn ping(&mut self) -> Result<(), StoreError> {
        self.number(query("SELECT CAST(1 AS BIGINT)"))
            .await
            .map(drop)
    }
}
