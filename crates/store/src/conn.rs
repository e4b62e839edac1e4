//! A connection, and the few ways in which the aggregates use it.

use crate::{StoreError, fault};
use futures_util::TryStreamExt;
use sqlx::any::AnyRow;
use sqlx::pool::PoolConnection;
use sqlx::query::Query;
use sqlx::{Any, Row};

/// A query with its parameters bound.
pub(crate) type Bound<'q> = Query<'q, Any, sqlx::any::AnyArguments>;

/// A connection to the database; each aggregate adds its statements as methods.
#[derive(Debug)]
pub struct Conn {
    raw: PoolConnection<Any>,
    /// Subjects that were noted as changed since the transaction began.
    pub(crate) changed: Vec<String>,
}

impl Conn {
    pub(crate) const fn new(raw: PoolConnection<Any>) -> Self {
        Self {
            raw,
            changed: Vec::new(),
        }
    }

    /// Gives up the connection for good: its state is unknown.
    pub(crate) fn discard(self) {
        drop(self.raw.detach());
    }

    /// Runs a statement that changes something; the number of rows it touched.
    pub(crate) async fn run(&mut self, query: Bound<'_>) -> Result<u64, StoreError> {
        fault::point();
        Ok(query.execute(&mut *self.raw).await?.rows_affected())
    }

    /// Runs a statement without parameters, such as a pragma or `BEGIN`.
    pub(crate) async fn plain(&mut self, sql: &'static str) -> Result<(), StoreError> {
        fault::point();
        sqlx::raw_sql(sql).execute(&mut *self.raw).await?;
        Ok(())
    }

    /// The one row there may be.
    pub(crate) async fn find<T: FromRow>(
        &mut self,
        query: Bound<'_>,
    ) -> Result<Option<T>, StoreError> {
        query
            .fetch_optional(&mut *self.raw)
            .await?
            .as_ref()
            .map(T::from_row)
            .transpose()
    }

    /// All rows. One at a time: a row of the library weighs many times what is made of it.
    pub(crate) async fn list<T: FromRow>(
        &mut self,
        query: Bound<'_>,
    ) -> Result<Vec<T>, StoreError> {
        let mut rows = query.fetch(&mut *self.raw);
        let mut all = Vec::new();
        while let Some(row) = rows.try_next().await? {
            all.push(T::from_row(&row)?);
        }
        Ok(all)
    }

    /// The first rows whose sizes together are within a limit, and the one that goes past it. The others are
    /// not read.
    pub(crate) async fn list_within<T: FromRow>(
        &mut self,
        query: Bound<'_>,
        max_bytes: usize,
        size: impl Fn(&T) -> usize,
    ) -> Result<Vec<T>, StoreError> {
        let mut rows = query.fetch(&mut *self.raw);
        let (mut all, mut bytes) = (Vec::new(), 0_usize);
        while bytes <= max_bytes
            && let Some(row) = rows.try_next().await?
        {
            let row = T::from_row(&row)?;
            bytes = bytes.saturating_add(size(&row));
            all.push(row);
        }
        Ok(all)
    }

    /// One number, such as a count.
    pub(crate) async fn number(&mut self, query: Bound<'_>) -> Result<i64, StoreError> {
        Ok(query.fetch_one(&mut *self.raw).await?.try_get(0)?)
    }

    pub(crate) async fn ping(&mut self) -> Result<(), StoreError> {
        self.number(sqlx::query("SELECT CAST(1 AS BIGINT)"))
            .await
            .map(drop)
    }
}

/// A row type: how it is read from a result.
pub(crate) trait FromRow: Sized {
    fn from_row(row: &AnyRow) -> Result<Self, StoreError>;
}

impl FromRow for String {
    fn from_row(row: &AnyRow) -> Result<Self, StoreError> {
        Ok(row.try_get(0)?)
    }
}
