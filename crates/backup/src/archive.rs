//! The lines of a backup. Each is one JSON value:
//!
//! 1. the [`Manifest`];
//! 2. for each table in the order of the manifest: its rows, each an array with one value per column (a blob
//!    as base64), then [`Mark::Table`] with the number of rows and the SHA-256 of their lines;
//! 3. each file as [`Mark::File`];
//! 4. [`Mark::End`].

use crate::BackupError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gatehouse_domain::Timestamp;
use gatehouse_store::{Cell, ColumnKind, Table, TableColumn};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of this format.
pub(crate) const FORMAT: u32 = 1;

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the archive format.
    #[serde(rename = "gatehouse_backup")]
    pub format: u32,
    /// When the backup was started.
    pub created_at: Timestamp,
    /// The version of Gatehouse that created the backup.
    pub version: String,
    /// The version of the database's schema.
    pub schema: i64,
    /// The engine of the database that the backup was created from: `sqlite` or `postgres`.
    pub engine: String,
    pub tables: Vec<TableEntry>,
    /// Names of the files.
    pub files: Vec<String>,
}

/// A table in the manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableEntry {
    pub name: String,
    pub rows: i64,
    /// Names and types of the columns, in the order of the values in a row.
    pub(crate) columns: Vec<(String, Kind)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Integer,
    Text,
    Blob,
}

/// A line that is neither the manifest nor a row.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mark {
    /// The end of a table.
    Table {
        name: String,
        rows: u64,
        /// Hexadecimal.
        sha256: String,
    },
    File {
        name: String,
        /// Base64.
        data: String,
    },
    /// The end of the backup.
    End {},
}

impl Manifest {
    /// Returns the number of rows of all tables.
    pub fn rows(&self) -> u64 {
        let rows = self.tables.iter().map(|table| table.rows);
        rows.filter_map(|rows| u64::try_from(rows).ok()).sum()
    }
}

impl TableEntry {
    pub(crate) fn of(table: &Table, rows: i64) -> Self {
        let columns = table.columns.iter().map(|column| {
            let kind = match column.kind {
                ColumnKind::Integer => Kind::Integer,
                ColumnKind::Text => Kind::Text,
                ColumnKind::Blob => Kind::Blob,
            };
            (column.name.clone(), kind)
        });
        Self {
            name: table.name.clone(),
            rows,
            columns: columns.collect(),
        }
    }

    #[cfg(test)]
    pub(crate) fn sort_columns(&mut self) {
        self.columns.sort_by(|a, b| a.0.cmp(&b.0));
    }

    pub(crate) fn columns(&self) -> Vec<TableColumn> {
        let columns = self.columns.iter().map(|(name, kind)| TableColumn {
            name: name.clone(),
            kind: match kind {
                Kind::Integer => ColumnKind::Integer,
                Kind::Text => ColumnKind::Text,
                Kind::Blob => ColumnKind::Blob,
            },
        });
        columns.collect()
    }
}

/// Returns the line of a row, with its line break.
pub(crate) fn encode_row(cells: Vec<Cell>) -> Result<Vec<u8>, BackupError> {
    let values: Vec<Value> = cells
        .into_iter()
        .map(|cell| match cell {
            Cell::Null => Value::Null,
            Cell::Integer(number) => number.into(),
            Cell::Text(text) => text.into(),
            Cell::Blob(bytes) => STANDARD.encode(bytes).into(),
        })
        .collect();
    encode_line(&values)
}

/// Returns a value as a line, with its line break.
pub(crate) fn encode_line(value: &impl Serialize) -> Result<Vec<u8>, BackupError> {
    let mut line = serde_json::to_vec(value).map_err(|error| BackupError::Io(error.into()))?;
    line.push(b'\n');
    Ok(line)
}

/// Parses the line of a row.
pub(crate) fn decode_row(line: &[u8], columns: &[TableColumn]) -> Option<Vec<Cell>> {
    let values: Vec<Value> = serde_json::from_slice(line).ok()?;
    if values.len() != columns.len() {
        return None;
    }
    let pairs = values.into_iter().zip(columns);
    pairs
        .map(|(value, column)| match (value, column.kind) {
            (Value::Null, _) => Some(Cell::Null),
            (Value::Number(number), ColumnKind::Integer) => number.as_i64().map(Cell::Integer),
            (Value::String(text), ColumnKind::Text) => Some(Cell::Text(text)),
            (Value::String(text), ColumnKind::Blob) => STANDARD.decode(text).ok().map(Cell::Blob),
            _ => None,
        })
        .collect()
}
