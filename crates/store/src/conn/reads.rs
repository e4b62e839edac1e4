//! Statements that return rows.

use super::{Conn, Raw};
use crate::postgres::{TransactionId, TransactionStatus};
use crate::postgres_answers::Answer;
use crate::sql::{FromRow, Query, Row, query};
use crate::take::TakeRow;
use crate::{StoreError, postgres, sqlite};

impl Conn {
    /// Queries the status of a transaction.
    pub(crate) async fn find_status(
        &mut self,
        id: &TransactionId,
    ) -> Result<TransactionStatus, StoreError> {
        let outcome = self.engine().outcome();
        match (&mut self.raw, outcome) {
            (Raw::Postgres(client), Some(sql)) => {
                let answer = Box::pin(postgres::find_status(client, sql, id));
                self.pipeline.ask(client, answer).await
            }
            _ => Ok(TransactionStatus::Unknown),
        }
    }

    /// Reads rows up to and including the first for which `enough` returns true. Further rows are not read.
    async fn list_until<T: FromRow>(
        &mut self,
        query: Query<'_>,
        mut enough: impl FnMut(&T) -> bool + Send,
    ) -> Result<Vec<T>, StoreError> {
        let mut all = Vec::new();
        let mut take = |row: &Row<'_>| {
            let row = T::from_row(row)?;
            let is_last = enough(&row);
            all.push(row);
            Ok(is_last)
        };
        self.take_rows(query, &mut take).await?;
        Ok(all)
    }

    fn take_rows<'a>(&'a mut self, query: Query<'a>, take: &'a mut TakeRow<'_>) -> Answer<'a, ()> {
        self.record(&query.text, Some(&query.values));
        Box::pin(async move {
            let ran = match &mut self.raw {
                Raw::Sqlite(db) => sqlite::list(db, &query, take),
                Raw::Postgres(client) => {
                    let answer = postgres::list(client, &query, take);
                    match self.pipeline.ask(client, answer).await {
                        // The server refused the statement before its first row. If a transaction is open, the
                        // server refuses all later statements, so the statement cannot be repeated.
                        Err(error) if error.is_outdated_statement() && !self.pipeline.is_open() => {
                            let answer = postgres::list(client, &query, take);
                            self.pipeline.ask(client, answer).await
                        }
                        answered => answered,
                    }
                }
            };
            self.noted(ran)
        })
    }

    /// Returns the only row, if there is one.
    pub(crate) async fn find<T: FromRow>(
        &mut self,
        query: Query<'_>,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.list_until(query, |_| true).await?.into_iter().next())
    }

    pub(crate) async fn list<T: FromRow>(
        &mut self,
        query: Query<'_>,
    ) -> Result<Vec<T>, StoreError> {
        self.list_until(query, |_| false).await
    }

    /// Returns rows until their total size exceeds a limit, including the row that exceeds it. Further rows are not
    /// read.
    pub(crate) async fn list_within<T: FromRow>(
        &mut self,
        query: Query<'_>,
        max_bytes: usize,
        size: impl Fn(&T) -> usize + Send + Sync,
    ) -> Result<Vec<T>, StoreError> {
        let mut bytes = 0_usize;
        self.list_until(query, |row| {
            bytes = bytes.saturating_add(size(row));
            bytes > max_bytes
        })
        .await
    }

    /// Returns a single number, such as a count.
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
