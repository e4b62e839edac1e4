//! Reads and writes whole tables, for backups and for moves between databases. Rows are generic: a table is
//! described by the schema of the database, so that a database of an older version can be copied as well.

mod import;
mod move_rows;
mod snapshot;

pub use import::{Import, ImportError};
pub use move_rows::{MoveStep, MovedTable, move_rows};
pub use snapshot::{Page, Snapshot};

use crate::sql::{Column, FromRow, Row, Value, query};
use crate::{Conn, Store, StoreError};
use rusqlite::types::ValueRef;
use std::borrow::Cow;
use tokio_postgres::types::Type;

/// The type of a column. The schema has no other types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    Integer,
    Text,
    Blob,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    pub name: String,
    pub kind: ColumnKind,
}

/// A table with its columns in the order of their definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub name: String,
    pub columns: Vec<TableColumn>,
    /// Positions of the columns of the primary key in `columns`, in the order of the key.
    key: Vec<usize>,
}

/// The value of a column in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    Null,
    Integer(i64),
    Text(String),
    Blob(Vec<u8>),
}

impl Cell {
    fn size(&self) -> usize {
        match self {
            Self::Null | Self::Integer(_) => size_of::<i64>(),
            Self::Text(text) => text.len(),
            Self::Blob(bytes) => bytes.len(),
        }
    }

    /// Returns the value as a parameter for a column of this kind. Returns `None` if the value has a different kind.
    fn bind(&self, kind: ColumnKind) -> Option<Value<'_>> {
        match (self, kind) {
            (Self::Null, ColumnKind::Integer) => Some(Value::Integer(None)),
            (Self::Null, ColumnKind::Text) => Some(Value::Text(None)),
            (Self::Null, ColumnKind::Blob) => Some(Value::Blob(None)),
            (Self::Integer(number), ColumnKind::Integer) => Some(Value::Integer(Some(*number))),
            (Self::Text(text), ColumnKind::Text) => Some(Value::Text(Some(Cow::Borrowed(text)))),
            (Self::Blob(bytes), ColumnKind::Blob) => Some(Value::Blob(Some(Cow::Borrowed(bytes)))),
            _ => None,
        }
    }
}

/// A row whose columns are known only at run time.
struct Cells(Vec<Cell>);

impl FromRow for Cells {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        let cells: Result<Vec<_>, _> = match row {
            Row::Sqlite(row) => (0..row.as_ref().column_count())
                .map(|place| sqlite_cell(row, place))
                .collect(),
            Row::Postgres(row) => (0..row.len())
                .map(|place| postgres_cell(row, place))
                .collect(),
        };
        cells.map(Self)
    }
}

const DAMAGED: StoreError = StoreError::Damaged {
    what: "value of a column",
};

fn sqlite_cell(row: &rusqlite::Row<'_>, place: usize) -> Result<Cell, StoreError> {
    Ok(match row.get_ref(place)? {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Text(bytes) => {
            Cell::Text(String::from_utf8(bytes.to_vec()).map_err(|_| DAMAGED)?)
        }
        ValueRef::Blob(bytes) => Cell::Blob(bytes.to_vec()),
        ValueRef::Real(_) => return Err(DAMAGED),
    })
}

fn postgres_cell(row: &tokio_postgres::Row, place: usize) -> Result<Cell, StoreError> {
    let column = row.columns().get(place).ok_or(DAMAGED)?;
    let cell = match *column.type_() {
        Type::INT8 => row.try_get::<_, Option<i64>>(place)?.map(Cell::Integer),
        Type::TEXT => row.try_get::<_, Option<String>>(place)?.map(Cell::Text),
        Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(place)?.map(Cell::Blob),
        _ => return Err(DAMAGED),
    };
    Ok(cell.unwrap_or(Cell::Null))
}

/// A row of the query for the columns of all tables.
struct SchemaRow {
    table: String,
    column: String,
    kind: ColumnKind,
    /// Position in the primary key, from 1; 0 for a column that is not part of it.
    place: i64,
}

impl FromRow for SchemaRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        let kind = match String::read(row, "kind")?.as_str() {
            "BIGINT" => ColumnKind::Integer,
            "TEXT" => ColumnKind::Text,
            "BYTEA" => ColumnKind::Blob,
            _ => {
                return Err(StoreError::Damaged {
                    what: "type of a column",
                });
            }
        };
        Ok(Self {
            table: row.try_get("table_name")?,
            column: row.try_get("column_name")?,
            kind,
            place: row.try_get("place")?,
        })
    }
}

impl Conn {
    /// Lists all tables except the table of migrations. Tables with foreign keys come after all others, so that rows
    /// can be inserted in this order.
    async fn list_all_tables(&mut self) -> Result<Vec<Table>, StoreError> {
        let rows: Vec<SchemaRow> = self.list(query(self.engine().list_columns())).await?;
        let mut tables: Vec<Table> = Vec::new();
        for group in rows.chunk_by(|a, b| a.table == b.table) {
            let mut key: Vec<(i64, usize)> = group
                .iter()
                .enumerate()
                .filter(|(_, row)| row.place > 0)
                .map(|(index, row)| (row.place, index))
                .collect();
            key.sort_unstable();
            let columns = group.iter().map(|row| TableColumn {
                name: row.column.clone(),
                kind: row.kind,
            });
            tables.push(Table {
                name: group
                    .first()
                    .map(|row| row.table.clone())
                    .unwrap_or_default(),
                columns: columns.collect(),
                key: key.into_iter().map(|(_, index)| index).collect(),
            });
        }
        Ok(tables)
    }
}

impl Store {
    /// Checks the file of a SQLite database: its structure, its indexes and its foreign keys. Returns the errors.
    /// PostgreSQL has no such check.
    pub async fn check_integrity(&self) -> Result<Vec<String>, StoreError> {
        self.read(|conn| {
            Box::pin(async move {
                let mut faults: Vec<String> = Vec::new();
                for check in conn.engine().check_integrity() {
                    faults.extend(conn.list::<String>(query(*check)).await?);
                }
                Ok(faults)
            })
        })
        .await
    }
}

/// Quotes a name of the schema for a statement.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn quoted_list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(quoted).collect::<Vec<_>>().join(", ")
}

/// Returns the parameters `$first`, `$first + 1`, … of a statement.
fn parameters(first: usize, count: usize) -> String {
    let parameters = (first..first + count).map(|number| format!("${number}"));
    parameters.collect::<Vec<_>>().join(", ")
}
