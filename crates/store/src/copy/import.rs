//! Inserts whole tables into an empty database.

mod changes;

use super::{Cell, Table, TableColumn, parameters, quoted, quoted_list};
use crate::dialect::{Engine, Lane, Role, SERVER_TABLES};
use crate::sql::{Value, query};
use crate::{Conn, Location, OpenError, StoreError, migrate};
use std::time::Duration;

/// Timeout for a response. A connection check detects a server that stopped working on the statement within a
/// minute.
const PATIENCE: Duration = Duration::from_hours(1);

/// The reason why rows could not be imported. The database is then empty, except after [`ImportError::NotMigrated`]
/// and after a failed [`super::move_rows()`].
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("the database already has rows; use an empty one")]
    NotEmpty,
    #[error(
        "the database is empty, but its tables are of a newer version; delete them and try again"
    )]
    NewerTables,
    /// The rows were imported, but the migrations failed.
    #[error(
        "the rows were imported, but not migrated to this version; start the server to try again"
    )]
    NotMigrated(#[source] OpenError),
    #[error(
        "the table {table} differs from that of the source: the source was written during the move, or the move \
         was started from a different source; stop every server of the source, empty the target and move again"
    )]
    Differs { table: String },
    /// This version of Gatehouse has no migration with this number.
    #[error("the rows are from another version of Gatehouse (schema {version})")]
    UnknownVersion { version: i64 },
    #[error("schema {version} has no table {table} with these columns")]
    UnknownTable { version: i64, table: String },
    #[error("a row of the table {table} does not have the types of its columns")]
    WrongRow { table: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A transaction that inserts rows into an empty database. Dropping it rolls it back.
///
/// Statements of SQLite block the thread.
#[derive(Debug)]
pub struct Import {
    conn: Conn,
    engine: Engine,
    tables: Vec<Table>,
    version: i64,
}

impl Import {
    /// Creates the schema of `version` and begins the transaction.
    pub async fn begin(location: &Location, version: i64) -> Result<Self, ImportError> {
        Self::start(location, version, false).await
    }

    /// Begins a move, or continues an unfinished one. No server can open the database before [`Self::finish`].
    pub(super) async fn begin_move(location: &Location, version: i64) -> Result<Self, ImportError> {
        Self::start(location, version, true).await
    }

    async fn start(location: &Location, version: i64, is_move: bool) -> Result<Self, ImportError> {
        if !migrate::migration_versions().contains(&version) {
            return Err(ImportError::UnknownVersion { version });
        }
        let engine = location.engine();
        let fail = |source| OpenError::Connect { engine, source };
        let source = location.source(Role::Migrator, 1)?;
        let mut conn = source.connect_patiently().await.map_err(fail)?;
        conn.wait_for(PATIENCE);
        // Checked before the migration, which must not change another installation.
        let tables = conn.list_all_tables().await?;
        let is_ours = tables.iter().any(|table| table.name == "settings");
        let is_continued = is_move && is_ours && migrate::is_unfinished_move(&mut conn).await?;
        if !is_continued {
            if has_rows(&mut conn, &tables).await? {
                return Err(ImportError::NotEmpty);
            }
            migrate::run(&mut conn, engine, Some(version)).await?;
        }
        begin(&mut conn, engine).await?;
        if migrate::version(&mut conn).await? != version {
            return Err(ImportError::NewerTables);
        }
        let tables = conn.list_all_tables().await?;
        if !is_continued {
            if has_rows(&mut conn, &tables).await? {
                return Err(ImportError::NotEmpty);
            }
            if is_move {
                migrate::begin_move(&mut conn).await?;
            }
        }
        Ok(Self {
            conn,
            engine,
            tables,
            version,
        })
    }

    /// Returns whether the rows of this table are not imported, because they describe the old server. Backups of
    /// earlier versions contain the table.
    pub fn ignores(name: &str) -> bool {
        SERVER_TABLES.contains(&name)
    }

    /// Returns the table with this name if it has these columns, in any order.
    pub fn table(&self, name: &str, columns: &[TableColumn]) -> Result<Table, ImportError> {
        let unknown = || ImportError::UnknownTable {
            version: self.version,
            table: name.to_owned(),
        };
        let own = self.tables.iter().find(|table| table.name == name);
        let own = own.ok_or_else(unknown)?;
        let is_same = own.columns.len() == columns.len()
            && own.columns.iter().all(|column| columns.contains(column));
        if !is_same {
            return Err(unknown());
        }
        Ok(Table {
            name: name.to_owned(),
            columns: columns.to_vec(),
            key: Vec::new(),
        })
    }

    /// Inserts rows. `table` is from [`Self::table`].
    pub async fn insert(&mut self, table: &Table, rows: &[Vec<Cell>]) -> Result<(), ImportError> {
        let statement = format!(
            "INSERT INTO {} ({}) VALUES ({})",
            quoted(&table.name),
            quoted_list(table.columns.iter().map(|column| column.name.as_str())),
            parameters(1, table.columns.len())
        );
        let values: Option<Vec<_>> = rows.iter().map(|row| values(table, row)).collect();
        let values = values.ok_or_else(|| ImportError::WrongRow {
            table: table.name.clone(),
        })?;
        self.conn.run_each(&statement, &values).await?;
        Ok(())
    }

    /// Commits the rows so far and begins another transaction.
    pub(super) async fn save(&mut self) -> Result<(), StoreError> {
        self.conn.commit().await?;
        begin(&mut self.conn, self.engine).await
    }

    pub(super) async fn count(&mut self, table: &Table) -> Result<u64, StoreError> {
        let count = format!("SELECT COUNT(*) FROM {}", quoted(&table.name));
        let rows = self.conn.number(query(count)).await?;
        Ok(u64::try_from(rows).unwrap_or_default())
    }

    fn has(&self, table: &str) -> bool {
        self.tables.iter().any(|known| known.name == table)
    }

    /// Commits the rows, then applies the migrations up to this version.
    pub async fn finish(mut self) -> Result<(), ImportError> {
        migrate::end_move(&mut self.conn).await?;
        self.conn.commit().await?;
        migrate::run(&mut self.conn, self.engine, None)
            .await
            .map_err(ImportError::NotMigrated)?;
        if let Some(checkpoint) = self.engine.checkpoint() {
            self.conn.plain(checkpoint).await?;
        }
        Ok(())
    }
}

/// Begins a transaction immediately. The connection of an import can also write outside a transaction, so no
/// statement may be sent until `BEGIN` has succeeded.
async fn begin(conn: &mut Conn, engine: Engine) -> Result<(), StoreError> {
    // An earlier version may have begun this move.
    if let Some(table) = engine.server_run_table() {
        conn.plain(table).await?;
    }
    conn.begin(engine.begin(Lane::Rules))?;
    conn.send_waiting().await
}

async fn has_rows(conn: &mut Conn, tables: &[Table]) -> Result<bool, StoreError> {
    for table in tables {
        let count = format!(
            "SELECT COUNT(*) FROM (SELECT 1 FROM {} LIMIT 1) AS found",
            quoted(&table.name)
        );
        if conn.number(query(count)).await? > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the cells as parameters; `None` if a cell does not have the type of its column.
fn values<'r>(table: &Table, row: &'r [Cell]) -> Option<Vec<Value<'r>>> {
    if row.len() != table.columns.len() {
        return None;
    }
    let cells = row.iter().zip(&table.columns);
    cells.map(|(cell, column)| cell.bind(column.kind)).collect()
}
