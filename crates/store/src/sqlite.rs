//! SQLite: opening connections and running statements. Every call blocks, so callers run on dedicated
//! threads; see `readers.rs` and `writer.rs`.

use crate::letter_case::add_contains;
use crate::postgres::Each;
use crate::sql::{Query, Row, Value};
use crate::take::{TakeFirst, TakeRow};
use crate::{OpenError, StoreError};
use rusqlite::config::DbConfig;
use rusqlite::{CachedStatement, Connection, OpenFlags};
use std::path::{Path, PathBuf};

/// Number of cached prepared statements per connection. The crate has fewer statements.
const STATEMENTS: usize = 512;

/// A database file.
#[derive(Clone, Debug)]
pub(crate) struct SqliteFile {
    path: PathBuf,
    flags: OpenFlags,
    /// The page cache of the writer in KiB. `None` uses SQLite's default, 2,000 KiB.
    pub(crate) writer_cache_kib: Option<u32>,
}

impl SqliteFile {
    /// Names a file that is created if it does not exist.
    pub(crate) fn at(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            flags: OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
            writer_cache_kib: None,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Fails if the file is missing or empty but its write-ahead log is not, because SQLite would delete the log.
    pub(crate) fn ensure_log_is_kept(&self) -> Result<(), OpenError> {
        let size = |path: &Path| path.metadata().map_or(0, |found| found.len());
        if size(&self.path) == 0 && size(&self.log_path()) > 0 {
            return Err(OpenError::LogWithoutDatabase);
        }
        Ok(())
    }

    /// Returns the path of the write-ahead log. SQLite resolves links in the path of the database first.
    pub(crate) fn log_path(&self) -> PathBuf {
        let path = self.path.canonicalize();
        let path = path.unwrap_or_else(|_| self.path.clone());
        let mut log = path.into_os_string();
        log.push("-wal");
        log.into()
    }

    /// Parses `sqlite:///path`, optionally with `?mode=rwc`, `rw` or `ro`. The path is percent-encoded.
    pub(crate) fn from_url(url: &str) -> Result<Self, OpenError> {
        let rest = url.strip_prefix("sqlite:").ok_or(OpenError::UnknownUrl)?;
        let rest = rest.strip_prefix("//").unwrap_or(rest);
        let (path, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let path = percent_encoding::percent_decode_str(path)
            .decode_utf8()
            .map_err(|_| OpenError::UnknownUrl)?;
        let mut file = Self::at(Path::new(path.as_ref()));
        for parameter in parameters.split('&').filter(|text| !text.is_empty()) {
            file.flags = match parameter {
                "mode=rwc" => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
                "mode=rw" => OpenFlags::SQLITE_OPEN_READ_WRITE,
                "mode=ro" => OpenFlags::SQLITE_OPEN_READ_ONLY,
                _ => return Err(OpenError::UnknownUrl),
            };
        }
        Ok(file)
    }

    /// Returns a URL from which [`SqliteFile::from_url`] returns this file.
    #[cfg(feature = "testing")]
    pub(crate) fn url(&self) -> String {
        use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
        const MEANINGFUL: &AsciiSet = &CONTROLS.add(b'%').add(b'?').add(b'#');
        format!(
            "sqlite://{}",
            utf8_percent_encode(&self.path.to_string_lossy(), MEANINGFUL)
        )
    }

    /// Opens a connection and runs `pragmas` on it.
    pub(crate) fn open(&self, pragmas: &str) -> Result<Connection, StoreError> {
        let flags = self.flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(&self.path, flags)?;
        // Without this option, SQLite compiles a statement with `LIMIT $1` again at each execution, to plan for the
        // bound value.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        db.set_prepared_statement_cache_capacity(STATEMENTS);
        add_contains(&db)?;
        db.execute_batch(pragmas)?;
        Ok(db)
    }
}

/// Prepares a statement or takes it from the connection's cache.
fn prepared<'c>(db: &'c Connection, sql: &str) -> Result<CachedStatement<'c>, StoreError> {
    // SQLite treats `$1` as a name and numbers named parameters by their first occurrence.
    Ok(db.prepare_cached(&sql.replace('$', "?"))?)
}

fn bind(statement: &mut CachedStatement<'_>, values: &[Value<'_>]) -> Result<(), StoreError> {
    for (place, value) in values.iter().enumerate() {
        statement.raw_bind_parameter(place + 1, value)?;
    }
    Ok(())
}

pub(crate) fn run(db: &Connection, query: &Query<'_>) -> Result<u64, StoreError> {
    let mut statement = prepared(db, &query.text)?;
    bind(&mut statement, &query.values)?;
    Ok(touched(statement.raw_execute()?))
}

pub(crate) fn run_each(
    db: &Connection,
    sql: &str,
    rows: &[Vec<Value<'_>>],
) -> Result<Vec<u64>, StoreError> {
    let mut statement = prepared(db, sql)?;
    rows.iter()
        .map(|values| {
            bind(&mut statement, values)?;
            Ok(touched(statement.raw_execute()?))
        })
        .collect()
}

pub(crate) fn find_each(
    db: &Connection,
    (sql, rows): Each<'_>,
    take: &mut TakeFirst<'_>,
) -> Result<(), StoreError> {
    let mut statement = prepared(db, sql)?;
    for values in rows {
        bind(&mut statement, values)?;
        let mut found = statement.raw_query();
        take(found.next()?.map(Row::Sqlite).as_ref())?;
    }
    Ok(())
}

fn touched(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}

/// Runs one statement without values and discards its rows.
pub(crate) fn plain(db: &Connection, sql: &str) -> Result<(), StoreError> {
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.raw_query();
    while rows.next()?.is_some() {}
    Ok(())
}

/// Reads rows until `take` returns true.
pub(crate) fn list(
    db: &Connection,
    query: &Query<'_>,
    take: &mut TakeRow<'_>,
) -> Result<(), StoreError> {
    let mut statement = prepared(db, &query.text)?;
    bind(&mut statement, &query.values)?;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        if take(&Row::Sqlite(row))? {
            break;
        }
    }
    Ok(())
}
