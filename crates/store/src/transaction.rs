//! Transactions of a connection: their beginning and end, and the jobs of a group in them.

use crate::conn::Raw;
use crate::dialect::Engine;
use crate::pipeline::SAVEPOINT;
use crate::postgres::TransactionId;
use crate::{Conn, StoreError, fault, sqlite};
use futures_util::future::ready;

impl Conn {
    /// Begins a transaction. On PostgreSQL, it begins with the first statement.
    pub(crate) fn begin(&mut self, sql: &'static str) -> Result<(), StoreError> {
        fault::point();
        match &mut self.raw {
            Raw::Sqlite(db) => sqlite::plain(db, sql),
            Raw::Postgres(_) => {
                self.pipeline.begin(sql);
                Ok(())
            }
        }
    }

    /// Returns the ID of the transaction on engines that can report its outcome later.
    pub(crate) async fn transaction_id(&mut self) -> Result<Option<TransactionId>, StoreError> {
        if self.engine() == Engine::Sqlite {
            return Ok(None);
        }
        if !self.pipeline.is_sent() {
            self.send_waiting().await?;
        }
        let id = self.pipeline.id().cloned();
        id.map(Some)
            .ok_or_else(|| StoreError::unavailable("the transaction did not begin"))
    }

    /// Returns whether the database has begun the transaction. On PostgreSQL, it begins with the first statement.
    pub(crate) const fn has_begun(&self) -> bool {
        match self.raw {
            Raw::Sqlite(_) => true,
            Raw::Postgres(_) => self.pipeline.is_sent(),
        }
    }

    /// Returns whether PostgreSQL has run no statement in this transaction, and no statement of a job waits.
    pub(crate) fn is_untouched(&self) -> bool {
        self.pipeline.is_untouched()
    }

    /// Sends the waiting statements and awaits the responses.
    pub(crate) async fn send_waiting(&mut self) -> Result<(), StoreError> {
        match &mut self.raw {
            Raw::Sqlite(_) => Ok(()),
            Raw::Postgres(client) => self.pipeline.ask(client, Box::pin(ready(Ok(())))).await,
        }
    }

    /// Commits the transaction. After an error, its outcome may be unknown.
    pub(crate) async fn commit(&mut self) -> Result<(), StoreError> {
        self.plain(self.engine().commit()).await?;
        self.pipeline.end();
        Ok(())
    }

    /// Rolls the transaction back.
    pub(crate) async fn roll_back(&mut self) -> Result<(), StoreError> {
        let is_on_server = self.pipeline.end();
        if self.engine() == Engine::Sqlite || is_on_server {
            self.plain("ROLLBACK").await
        } else {
            Ok(())
        }
    }

    /// Fails if SQLite has rolled back the transaction, which happens after some errors, such as a full disk.
    pub(crate) fn check_begun(&self) -> Result<(), StoreError> {
        match &self.raw {
            Raw::Sqlite(db) if db.is_autocommit() => Err(StoreError::unavailable(
                "the database has rolled back the transaction",
            )),
            Raw::Sqlite(_) | Raw::Postgres(_) => Ok(()),
        }
    }

    /// Undoes everything in the transaction and begins it again.
    pub(crate) async fn begin_again(&mut self, sql: &'static str) -> Result<(), StoreError> {
        let undone = self.roll_back().await;
        undone.map_err(StoreError::unavailable)?;
        self.begin(sql)
    }

    /// Begins a job of a group. The job can be rolled back alone.
    pub(crate) fn begin_job(&mut self) -> Result<(), StoreError> {
        self.frame(SAVEPOINT)
    }

    /// Ends a job of a group. Returns the first error of its statements.
    pub(crate) async fn end_job(&mut self) -> Result<(), StoreError> {
        self.pipeline.check()?;
        if self.pipeline.has_statements() {
            self.send_waiting().await?;
        }
        self.frame("RELEASE SAVEPOINT job")
    }

    /// Undoes the current job of a group. Fails if only the whole group can be undone.
    pub(crate) async fn roll_back_job(&mut self) -> Result<(), StoreError> {
        self.pipeline.check()?;
        if self.pipeline.drop_job() {
            return Ok(());
        }
        let undone = self.plain("ROLLBACK TO SAVEPOINT job").await;
        undone.map_err(StoreError::unavailable)
    }

    fn frame(&mut self, sql: &'static str) -> Result<(), StoreError> {
        fault::point();
        match &mut self.raw {
            Raw::Sqlite(db) => sqlite::plain(db, sql),
            Raw::Postgres(_) => self.pipeline.push_frame(sql),
        }
    }
}
