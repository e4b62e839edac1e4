//! Database connections and the operations that the table modules use.

mod batches;
mod reads;

use crate::delivery_configs::StoredConfigs;
use crate::delivery_counts::Ended;
use crate::dialect::Engine;
use crate::pipeline::Pipeline;
use crate::postgres_answers::Answer;
use crate::sql::{Query, Value};
use crate::{StoreError, fault, postgres, sqlite};
use deadpool_postgres::Object;
use std::time::Duration;

// The methods of `Conn` that depend on the driver return boxed futures and pass rows to a `dyn FnMut`. The compiler
// would compile an `async fn`, or a function that is generic over the row type, again in every crate that awaits
// it.

/// A connection to the database. Each table module adds its statements as methods.
#[derive(Debug)]
pub struct Conn {
    pub(crate) raw: Raw,
    /// Subjects recorded as changed since the transaction began.
    pub(crate) changed: Vec<String>,
    /// Deliveries that ended since the transaction began and are not yet counted.
    pub(crate) ended: Vec<Ended>,
    pub(crate) stored_configs: StoredConfigs,
    /// The exchange with PostgreSQL.
    pub(crate) pipeline: Pipeline,
    /// Whether the database was unable to run a statement. The owner of the connection resets it.
    pub(crate) was_unavailable: bool,
    /// The statements that were run. `None` unless a test records them.
    #[cfg(test)]
    pub(crate) recorded: Option<Vec<Query<'static>>>,
}

/// The driver's connection.
#[derive(Debug)]
pub(crate) enum Raw {
    /// Statements block the thread; the futures of this crate never yield.
    Sqlite(rusqlite::Connection),
    Postgres(Object),
}

impl Conn {
    pub(crate) fn new(raw: Raw) -> Self {
        Self {
            raw,
            changed: Vec::new(),
            ended: Vec::new(),
            stored_configs: StoredConfigs::default(),
            pipeline: Pipeline::default(),
            was_unavailable: false,
            #[cfg(test)]
            recorded: None,
        }
    }

    /// Records a statement if a test has turned on recording.
    fn record(&mut self, sql: &str, values: Option<&Vec<Value<'_>>>) {
        #[cfg(test)]
        {
            if let (Some(recorded), Some(values)) = (&mut self.recorded, values) {
                recorded.push(Query {
                    text: sql.to_owned().into(),
                    values: values.iter().map(Value::to_static).collect(),
                });
            }
        }
        #[cfg(not(test))]
        let _ = (self, sql, values);
    }

    /// Stores whether the database was unable to run a statement.
    fn noted<T>(&mut self, ran: Result<T, StoreError>) -> Result<T, StoreError> {
        self.was_unavailable |= matches!(ran, Err(StoreError::Unavailable(_)));
        ran
    }

    /// Sets a longer timeout for responses. Used for statements on whole tables.
    pub(crate) const fn wait_for(&mut self, answer: Duration) {
        self.pipeline.limit = answer;
    }

    pub(crate) const fn engine(&self) -> Engine {
        match self.raw {
            Raw::Sqlite(_) => Engine::Sqlite,
            Raw::Postgres(_) => Engine::Postgres,
        }
    }

    /// Returns whether the connection can be reused.
    pub(crate) fn is_usable(&self) -> bool {
        !self.pipeline.may_be_silent() && self.is_intact()
    }

    /// Returns whether the connection should be replaced before use.
    pub(crate) fn is_suspected(&self) -> bool {
        self.pipeline.is_suspected() || !self.is_intact()
    }

    /// Returns whether this connection is open and no statement is unanswered. Does not consider other connections.
    pub(crate) fn is_intact(&self) -> bool {
        !self.pipeline.is_silent
            && match &self.raw {
                Raw::Sqlite(_) => true,
                Raw::Postgres(client) => !client.is_closed(),
            }
    }

    pub(crate) const fn mark_unusable(&mut self) {
        self.pipeline.is_silent = true;
    }

    /// Closes the connection because its state is unknown.
    pub(crate) fn discard(self) {
        if let Raw::Postgres(client) = self.raw {
            drop(Object::take(client));
        }
    }

    /// Returns the connection to its pool, or closes it if it is not usable.
    pub(crate) fn give_back(self) {
        if !self.is_usable() {
            return self.discard();
        }
        if let (Raw::Postgres(client), Some(silence)) = (&self.raw, &self.pipeline.silence) {
            silence.note_answer(&client.statement_cache, self.pipeline.answered);
        }
    }

    /// Returns how often the connection has waited for responses of PostgreSQL.
    #[cfg(feature = "testing")]
    pub const fn round_trips(&self) -> u64 {
        self.pipeline.round_trips
    }

    /// Runs a statement that changes data. Returns the number of affected rows.
    pub(crate) fn run<'a>(&'a mut self, query: Query<'a>) -> Answer<'a, u64> {
        fault::point();
        self.record(&query.text, Some(&query.values));
        Box::pin(async move {
            let ran = match &mut self.raw {
                Raw::Sqlite(db) => sqlite::run(db, &query),
                Raw::Postgres(client) => {
                    let answer = postgres::run(client, &query);
                    self.pipeline.ask(client, answer).await
                }
            };
            self.noted(ran)
        })
    }

    /// Queues a statement whose result does not matter. On PostgreSQL, the statement is sent with the next
    /// statement or with the commit, and an error is returned from there.
    pub(crate) fn run_later(
        &mut self,
        sql: &'static str,
        values: Vec<Value<'_>>,
    ) -> Result<(), StoreError> {
        self.run_each_later(sql, &[values])
    }

    /// Like [`Self::run_later`], once for each row of values.
    pub(crate) fn run_each_later(
        &mut self,
        sql: &'static str,
        rows: &[Vec<Value<'_>>],
    ) -> Result<(), StoreError> {
        fault::point();
        self.record(sql, rows.first());
        let ran = match &mut self.raw {
            Raw::Sqlite(db) => sqlite::run_each(db, sql, rows).map(drop),
            Raw::Postgres(_) => self.pipeline.push_each(sql, rows),
        };
        self.noted(ran)
    }

    /// Like [`Self::run_later`], for a statement without parameters.
    pub(crate) fn plain_later(&mut self, sql: &'static str) -> Result<(), StoreError> {
        fault::point();
        match &mut self.raw {
            Raw::Sqlite(db) => sqlite::plain(db, sql),
            Raw::Postgres(_) => self.pipeline.push_plain(sql),
        }
    }

    /// Runs a statement without parameters, such as a pragma.
    pub(crate) fn plain(&mut self, sql: &'static str) -> Answer<'_, ()> {
        fault::point();
        Box::pin(async move {
            let ran = match &mut self.raw {
                Raw::Sqlite(db) => sqlite::plain(db, sql),
                Raw::Postgres(client) => {
                    let answer = Box::pin(postgres::plain(client, sql));
                    self.pipeline.ask(client, answer).await
                }
            };
            self.noted(ran)
        })
    }

    /// Runs several statements without parameters and without a timeout. On PostgreSQL, fails if the server stops
    /// working on the statements.
    pub(crate) async fn script(&mut self, sql: &'static str) -> Result<(), StoreError> {
        fault::point();
        match &mut self.raw {
            Raw::Sqlite(db) => Ok(db.execute_batch(sql)?),
            Raw::Postgres(client) => self.pipeline.run_script(client, sql).await,
        }
    }
}
