//! The locations of databases, and the creation of connections to them.

use crate::conn::Raw;
use crate::dialect::{Engine, Role};
use crate::postgres::{CONNECT, PostgresServer};
use crate::postgres_answers::Answer;
use crate::postgres_silence::ServerSilence;
use crate::postgres_watch::StatementWatch;
use crate::sqlite::SqliteFile;
use crate::{Conn, OpenError, StoreError, sqlite};
use deadpool_postgres::Pool;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// How long to wait for a server that is starting.
const PATIENCE: Duration = Duration::from_secs(10);
const BETWEEN_TRIES: Duration = Duration::from_millis(200);
/// The error if a server accepts a connection but does not answer, or if all connections are in use.
const NO_CONNECTION: &str = "no connection to the database within 10 seconds; check that its server answers and \
                             that `database.url` names it";

/// The location of a database.
#[derive(Clone)]
pub struct Location(pub(crate) LocationKind);

#[derive(Clone)]
pub(crate) enum LocationKind {
    Sqlite(SqliteFile),
    Postgres(Box<PostgresServer>),
}

impl std::fmt::Debug for Location {
    /// Hides the URL, which may contain a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Location")
            .field("engine", &self.engine())
            .finish_non_exhaustive()
    }
}

impl Location {
    /// Names a SQLite file, created if it does not exist.
    pub fn sqlite_file(path: &Path) -> Self {
        Self(LocationKind::Sqlite(SqliteFile::at(path)))
    }

    /// Parses a database URL, `sqlite://…` or `postgres://…`.
    pub fn from_url(url: &str) -> Result<Self, OpenError> {
        let place = match url.split(':').next() {
            Some("sqlite") => LocationKind::Sqlite(SqliteFile::from_url(url)?),
            Some("postgres" | "postgresql") => {
                LocationKind::Postgres(Box::new(PostgresServer::from_url(url)?))
            }
            _ => return Err(OpenError::UnknownUrl),
        };
        Ok(Self(place))
    }

    /// Sets the size of the page cache of the connection that writes to SQLite, in KiB. For measurements.
    #[doc(hidden)]
    #[must_use]
    pub fn with_writer_cache_kib(mut self, kib: u32) -> Self {
        if let LocationKind::Sqlite(file) = &mut self.0 {
            file.writer_cache_kib = Some(kib);
        }
        self
    }

    pub const fn engine(&self) -> Engine {
        match self.0 {
            LocationKind::Sqlite(_) => Engine::Sqlite,
            LocationKind::Postgres(_) => Engine::Postgres,
        }
    }

    #[cfg(feature = "testing")]
    /// Returns the URL, for tests that pass it to a server.
    pub fn url(&self) -> String {
        match &self.0 {
            LocationKind::Sqlite(file) => file.url(),
            LocationKind::Postgres(server) => server.url().to_owned(),
        }
    }

    /// Returns a source of new connections for one role.
    pub(crate) fn source(&self, role: Role, connections: usize) -> Result<Source, OpenError> {
        Ok(match &self.0 {
            LocationKind::Sqlite(file) => {
                file.ensure_log_is_kept()?;
                Source::Sqlite(file.clone(), role)
            }
            LocationKind::Postgres(server) => {
                // Statements of the other roles have timeouts, so they need no watch.
                let is_watched = role == Role::Migrator;
                let watched = is_watched.then(|| Arc::new(PostgresServer::clone(server)));
                let silence = Arc::clone(&server.silence);
                Source::Postgres(server.pool(role, connections)?, silence, watched)
            }
        })
    }
}

/// Creates connections for one role.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Sqlite(SqliteFile, Role),
    /// The third field is the server if statements of the connections may take long, otherwise `None`.
    Postgres(Pool, Arc<ServerSilence>, Option<Arc<PostgresServer>>),
}

/// Takes a connection from the pool.
async fn open_session(
    pool: &Pool,
    silence: &Arc<ServerSilence>,
    watched: Option<&Arc<PostgresServer>>,
) -> Result<Conn, StoreError> {
    let client = pool.get().await?;
    let watch = match watched {
        Some(server) => Some(Arc::new(StatementWatch::of(server, &client).await?)),
        None => None,
    };
    // The pool does not check whether the server still answers on the connection.
    let answered = silence.last_answer(&client.statement_cache);
    let mut conn = Conn::new(Raw::Postgres(client));
    if let Some(answered) = answered {
        conn.pipeline.answered = answered;
    }
    conn.pipeline.watch = watch;
    conn.pipeline.silence = Some(Arc::clone(silence));
    Ok(conn)
}

impl Source {
    pub(crate) fn connect(&self) -> Answer<'_, Conn> {
        Box::pin(async move {
            match self {
                Self::Sqlite(..) => self.connect_sqlite(),
                Self::Postgres(pool, silence, watched) => {
                    let opened = open_session(pool, silence, watched.as_ref());
                    let opened = timeout(CONNECT, opened).await;
                    opened.unwrap_or_else(|_| Err(StoreError::unavailable(NO_CONNECTION)))
                }
            }
        })
    }

    fn connect_sqlite(&self) -> Result<Conn, StoreError> {
        match self {
            Self::Sqlite(file, role) => {
                let db = file.open(Engine::Sqlite.on_connect(*role))?;
                if let (Role::Writer, Some(kib)) = (role, file.writer_cache_kib) {
                    sqlite::plain(&db, &format!("PRAGMA cache_size = -{kib}"))?;
                }
                Ok(Conn::new(Raw::Sqlite(db)))
            }
            Self::Postgres(..) => Err(StoreError::unavailable("PostgreSQL has no file to open")),
        }
    }

    /// Connects, retrying for [`PATIENCE`] if the server cannot be reached.
    pub(crate) async fn connect_patiently(&self) -> Result<Conn, StoreError> {
        let until = Instant::now() + PATIENCE;
        let mut is_first = true;
        loop {
            match self.connect().await {
                Err(error)
                    if self.is_server() && error.is_unavailable() && Instant::now() < until =>
                {
                    if std::mem::take(&mut is_first) {
                        tracing::warn!(
                            error = &error as &dyn std::error::Error,
                            "the database does not respond; the connection is retried"
                        );
                    }
                    tokio::time::sleep(BETWEEN_TRIES).await;
                }
                other => return other,
            }
        }
    }

    const fn is_server(&self) -> bool {
        matches!(self, Self::Postgres(..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::query;

    /// `PRAGMA temp_store`: 0 is the compiled default, 1 files, 2 memory.
    #[tokio::test]
    async fn every_connection_keeps_temporary_tables_and_journals_in_memory() {
        let database = crate::testing::empty_sqlite();
        for role in [Role::Migrator, Role::Writer, Role::Reader] {
            let source = database.location.source(role, 1).unwrap();
            let mut conn = source.connect().await.unwrap();
            let stored = conn.number(query("PRAGMA temp_store")).await.unwrap();
            assert_eq!(stored, 2, "{role:?}");
        }
    }

    /// `PRAGMA synchronous`: 1 syncs the log at checkpoints only, 2 (FULL) at each commit.
    #[tokio::test]
    async fn every_connection_that_writes_to_sqlite_syncs_each_commit() {
        let database = crate::testing::empty_sqlite();
        for role in [Role::Migrator, Role::Writer] {
            let source = database.location.source(role, 1).unwrap();
            let mut conn = source.connect().await.unwrap();
            let synced = conn.number(query("PRAGMA synchronous")).await.unwrap();
            assert_eq!(synced, 2, "{role:?}");
        }
    }

    #[tokio::test]
    async fn a_measurement_sets_the_cache_of_the_writer_alone() {
        let database = crate::testing::empty_sqlite();
        let location = database.location.clone().with_writer_cache_kib(16_384);
        for (role, kib) in [(Role::Writer, 16_384), (Role::Reader, 2_000)] {
            let source = location.source(role, 1).unwrap();
            let mut conn = source.connect().await.unwrap();
            let size = conn.number(query("PRAGMA cache_size")).await.unwrap();
            assert_eq!(size, -kib, "{role:?}");
        }
    }
}
