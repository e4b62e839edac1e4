//! Writes whole tables into an empty database.

use super::{Cell, Table, TableColumn, parameters, quoted, quoted_list};
use crate::delivery_waits::WAITS_FOR_RELEASE;
use crate::dialect::{Engine, Lane, Role};
use crate::sql::{Value, query};
use crate::{Conn, Location, OpenError, StoreError, migrate};

/// Why rows could not be imported. The database has no rows then.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("the database has rows already; import into an empty one")]
    NotEmpty,
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

/// A transaction that writes rows into a database without any. Dropping it discards them.
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
        if !migrate::migration_versions().contains(&version) {
            return Err(ImportError::UnknownVersion { version });
        }
        let engine = location.engine();
        let fail = |source| OpenError::Connect { engine, source };
        let source = location.source(Role::Migrator, 1)?;
        let mut conn = source.connect_patiently().await.map_err(fail)?;
        migrate::run(&mut conn, engine, Some(version)).await?;
        conn.begin(engine.begin(Lane::Rules)).await?;
        let tables = conn.list_all_tables().await?;
        let is_newer = migrate::version(&mut conn).await? != version;
        if is_newer || has_rows(&mut conn, &tables).await? {
            return Err(ImportError::NotEmpty);
        }
        Ok(Self {
            conn,
            engine,
            tables,
            version,
        })
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

    /// Parks every delivery that waits or runs until [`Conn::release_deliveries`] is called. Returns their
    /// number.
    pub async fn hold_deliveries(&mut self) -> Result<u64, StoreError> {
        let hold = query(
            "UPDATE webhook_deliveries SET status = 'queued', next_attempt_at = NULL, error = $1,
                 lease_owner = NULL, lease_until = NULL
             WHERE status IN ('received', 'queued', 'processing')",
        );
        self.conn.run(hold.bind(WAITS_FOR_RELEASE)).await
    }

    /// Deletes sign-in sessions, API keys and devices. Returns their number. The password and passkeys stay.
    pub async fn delete_credentials(&mut self) -> Result<u64, StoreError> {
        let mut deleted = 0;
        for statement in [
            "DELETE FROM auth_sessions",
            "DELETE FROM auth_api_keys",
            "DELETE FROM auth_devices",
        ] {
            deleted += self.conn.run(query(statement)).await?;
        }
        Ok(deleted)
    }

    /// Commits the rows, then applies the migrations up to this version.
    pub async fn finish(mut self) -> Result<(), ImportError> {
        self.conn.plain(self.engine.commit()).await?;
        migrate::run(&mut self.conn, self.engine, None).await?;
        if let Some(checkpoint) = self.engine.checkpoint() {
            self.conn.plain(checkpoint).await?;
        }
        Ok(())
    }
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

/// `None` if a cell does not have the type of its column.
fn values<'r>(table: &Table, row: &'r [Cell]) -> Option<Vec<Value<'r>>> {
    if row.len() != table.columns.len() {
        return None;
    }
    let cells = row.iter().zip(&table.columns);
    cells.map(|(cell, column)| cell.bind(column.kind)).collect()
}
