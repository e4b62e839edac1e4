//! Reads all tables as they were at one moment.

use super::{Cell, Cells, DAMAGED, Table, parameters, quoted, quoted_list};
use crate::dialect::{Engine, Role};
use crate::migrate;
use crate::sql::query;
use crate::{Conn, Location, OpenError, StoreError};
use std::time::Duration;

/// Number of rows of the first page of a table. PostgreSQL sends a whole page, even if its rows are large, so the
/// number grows only while pages are small.
const FIRST_ROWS: i64 = 16;
const MAX_ROWS: i64 = 1_024;
/// A page ends with the row that exceeds this size, in bytes.
const PAGE_BYTES: usize = 8 << 20;
/// Timeout for a response. Counting the rows of a large table takes long. A connection check detects a server that
/// stopped working on the statement within a minute.
const PATIENCE: Duration = Duration::from_hours(1);

/// A read transaction that sees the database as it was when the transaction began. Writers are not blocked, but
/// SQLite cannot truncate its write-ahead log until the snapshot is dropped.
///
/// Statements of SQLite block the thread.
#[derive(Debug)]
pub struct Snapshot {
    conn: Conn,
    tables: Vec<Table>,
    version: i64,
    /// Number of rows of the next page.
    rows: i64,
}

/// Some rows of a table in the order of its primary key.
#[derive(Debug)]
pub struct Page {
    pub rows: Vec<Vec<Cell>>,
    /// Pass it to [`Snapshot::read`] for the next page. `None` after the last row.
    pub next: Option<Vec<Cell>>,
}

impl Snapshot {
    /// Begins the transaction. Does not migrate the database.
    pub async fn open(location: &Location) -> Result<Self, OpenError> {
        let mut snapshot = Self::open_unfinished(location).await?;
        let fail = |source| OpenError::Connect {
            engine: location.engine(),
            source,
        };
        if migrate::is_unfinished_move(&mut snapshot.conn)
            .await
            .map_err(fail)?
        {
            return Err(OpenError::UnfinishedMove);
        }
        Ok(snapshot)
    }

    /// Like [`Self::open`], but also works while rows are moved into the database.
    pub(super) async fn open_unfinished(location: &Location) -> Result<Self, OpenError> {
        let engine = location.engine();
        let fail = |source| OpenError::Connect { engine, source };
        // Not `Reader`: the statements of a reader have a timeout.
        let role = match engine {
            Engine::Sqlite => Role::Reader,
            Engine::Postgres => Role::Migrator,
        };
        let source = location.source(role, 1)?;
        let mut conn = source.connect_patiently().await.map_err(fail)?;
        conn.wait_for(PATIENCE);
        conn.plain(engine.begin_snapshot()).await.map_err(fail)?;
        let version = migrate::version(&mut conn).await.map_err(fail)?;
        let tables = conn.list_all_tables().await.map_err(fail)?;
        Ok(Self {
            conn,
            tables,
            version,
            rows: FIRST_ROWS,
        })
    }

    /// Returns the tables in an order in which they can be imported.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Returns the version of the schema.
    pub const fn version(&self) -> i64 {
        self.version
    }

    pub async fn count(&mut self, table: &Table) -> Result<i64, StoreError> {
        let count = format!("SELECT COUNT(*) FROM {}", quoted(&table.name));
        self.conn.number(query(count)).await
    }

    /// Reads the first rows of a table, or the rows after a page.
    pub async fn read(
        &mut self,
        table: &Table,
        after: Option<Vec<Cell>>,
    ) -> Result<Page, StoreError> {
        let after = after.unwrap_or_default();
        if after.is_empty() {
            self.rows = FIRST_ROWS;
        }
        let size = |cells: &[Cell]| cells.iter().map(Cell::size).sum::<usize>();
        let rows: Vec<Cells> = {
            let mut statement = query(select(table, !after.is_empty(), self.rows)?);
            for (cell, place) in after.iter().zip(&table.key) {
                let column = table.columns.get(*place).ok_or(DAMAGED)?;
                statement = statement.bind(cell.bind(column.kind).ok_or(DAMAGED)?);
            }
            let size = |Cells(cells): &Cells| size(cells);
            self.conn.list_within(statement, PAGE_BYTES, size).await?
        };
        let rows: Vec<Vec<Cell>> = rows.into_iter().map(|Cells(cells)| cells).collect();
        let bytes: usize = rows.iter().map(|row| size(row)).sum();
        self.rows = if bytes > PAGE_BYTES / 2 {
            (self.rows / 2).max(1)
        } else {
            (self.rows * 2).min(MAX_ROWS)
        };
        let next = rows.last().map(|row| {
            let key = table.key.iter().filter_map(|place| row.get(*place));
            key.cloned().collect()
        });
        Ok(Page { rows, next })
    }
}

/// Builds the query for a page in the order of the primary key. Every table has a primary key.
fn select(table: &Table, is_continued: bool, rows: i64) -> Result<String, StoreError> {
    let key: Vec<&str> = table
        .key
        .iter()
        .filter_map(|place| table.columns.get(*place))
        .map(|column| column.name.as_str())
        .collect();
    if key.is_empty() {
        return Err(StoreError::Damaged {
            what: "primary key of a table",
        });
    }
    let columns = quoted_list(table.columns.iter().map(|column| column.name.as_str()));
    let order = quoted_list(key.iter().copied());
    let after = if is_continued {
        format!("WHERE ({order}) > ({})", parameters(1, key.len()))
    } else {
        String::new()
    };
    Ok(format!(
        "SELECT {columns} FROM {} {after} ORDER BY {order} LIMIT {rows}",
        quoted(&table.name)
    ))
}
