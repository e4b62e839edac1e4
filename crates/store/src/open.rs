//! Opening: where the database is, its connections, its migrations.

use crate::dialect::{Engine, Role};
use crate::writer::Writer;
use crate::{CHANGES, OpenError, Store};
use sqlx::any::{AnyConnectOptions, AnyPoolOptions, install_default_drivers};
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::{AnyConnection, AnyPool, Connection, Executor, SqlSafeStr};
use std::path::Path;
use std::time::Duration;
use tokio::sync::broadcast;

/// The schema, one step a file. A step that has shipped is never changed: add another.
const MIGRATIONS: [(i64, &str, &str); 15] = [
    (
        1,
        "settings",
        include_str!("../migrations/0001_settings.sql"),
    ),
    (2, "auth", include_str!("../migrations/0002_auth.sql")),
    (3, "vault", include_str!("../migrations/0003_vault.sql")),
    (
        4,
        "channels",
        include_str!("../migrations/0004_channels.sql"),
    ),
    (5, "agents", include_str!("../migrations/0005_agents.sql")),
    (
        6,
        "webhooks",
        include_str!("../migrations/0006_webhooks.sql"),
    ),
    (7, "devices", include_str!("../migrations/0007_devices.sql")),
    (
        8,
        "voice_personas",
        include_str!("../migrations/0008_voice_personas.sql"),
    ),
    (
        9,
        "session_audio",
        include_str!("../migrations/0009_session_audio.sql"),
    ),
    (
        10,
        "inbox_origin",
        include_str!("../migrations/0010_inbox_origin.sql"),
    ),
    (
        11,
        "credential_limits",
        include_str!("../migrations/0011_credential_limits.sql"),
    ),
    (12, "bounds", include_str!("../migrations/0012_bounds.sql")),
    (
        13,
        "webhook_intake",
        include_str!("../migrations/0013_webhook_intake.sql"),
    ),
    (
        14,
        "key_bindings",
        include_str!("../migrations/0014_key_bindings.sql"),
    ),
    (
        15,
        "delivery_lines",
        include_str!("../migrations/0015_delivery_lines.sql"),
    ),
];

/// How many connections read. SQLite's each have a thread and a page cache.
const READERS: u32 = 4;

/// Where a database is.
#[derive(Clone)]
pub struct Location {
    engine: Engine,
    url: String,
}

impl std::fmt::Debug for Location {
    /// The URL may carry a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Location")
            .field("engine", &self.engine)
            .finish_non_exhaustive()
    }
}

impl Location {
    /// A SQLite file; made when it is not there.
    pub fn sqlite_file(path: &Path) -> Self {
        // In a URL `%`, `?` and `#` mean something else.
        let mut encoded = String::from("sqlite://");
        for character in path.to_string_lossy().chars() {
            match character {
                '%' => encoded.push_str("%25"),
                '?' => encoded.push_str("%3F"),
                '#' => encoded.push_str("%23"),
                other => encoded.push(other),
            }
        }
        encoded.push_str("?mode=rwc");
        Self {
            engine: Engine::Sqlite,
            url: encoded,
        }
    }

    /// A database URL, `sqlite://…` or `postgres://…`.
    pub fn from_url(url: &str) -> Result<Self, OpenError> {
        let engine = match url.split(':').next() {
            Some("sqlite") => Engine::Sqlite,
            Some("postgres" | "postgresql") => Engine::Postgres,
            _ => return Err(OpenError::UnknownUrl),
        };
        let url = match engine {
            Engine::Sqlite if !url.contains('?') => format!("{url}?mode=rwc"),
            _ => url.to_owned(),
        };
        Ok(Self { engine, url })
    }

    /// Which engine.
    pub const fn engine(&self) -> Engine {
        self.engine
    }

    #[cfg(feature = "testing")]
    /// The URL, for tests that hand it to a server.
    pub fn url(&self) -> &str {
        &self.url
    }

    async fn pool(&self, role: Role) -> Result<AnyPool, OpenError> {
        let engine = self.engine;
        let fail = |source| OpenError::Connect { engine, source };
        let options: AnyConnectOptions = self.url.parse().map_err(fail)?;
        let statements = engine.on_connect(role);
        if engine == Engine::Sqlite && role == Role::Writer {
            // A pool tries again until its time is up, and then has forgotten why. A server may come
            // up meanwhile; a file that is no database stays none.
            let mut probe = AnyConnection::connect_with(&options).await.map_err(fail)?;
            probe
                .execute(sqlx::raw_sql(statements))
                .await
                .map_err(fail)?;
            probe.close().await.map_err(fail)?;
        }
        AnyPoolOptions::new()
            .max_connections(if role == Role::Writer { 1 } else { READERS })
            .acquire_timeout(Duration::from_secs(10))
            .test_before_acquire(engine.connections_can_die())
            .idle_timeout(None)
            .max_lifetime(None)
            .after_connect(move |conn, _| {
                Box::pin(async move { conn.execute(sqlx::raw_sql(statements)).await.map(drop) })
            })
            .connect_with(options)
            .await
            .map_err(fail)
    }
}

/// The versions of the schema, oldest first.
pub fn migration_versions() -> Vec<i64> {
    MIGRATIONS.iter().map(|(version, ..)| *version).collect()
}

fn migrator() -> Migrator {
    let migrations = MIGRATIONS.map(|(version, name, sql)| {
        Migration::new(
            version,
            name.into(),
            MigrationType::Simple,
            sql.into_sql_str(),
            false,
        )
    });
    Migrator::with_migrations(migrations.into())
}

impl Store {
    /// Opens the database and brings its schema up to this version.
    pub async fn open(location: &Location) -> Result<Self, OpenError> {
        Self::open_at(location, None).await
    }

    /// Opens the database and brings its schema up to `version` only: for tests of the migrations.
    #[doc(hidden)]
    pub async fn open_at(location: &Location, version: Option<i64>) -> Result<Self, OpenError> {
        install_default_drivers();
        let writer = location.pool(Role::Writer).await?;
        migrate(location.engine, &writer, version).await?;
        let readers = location.pool(Role::Reader).await?;
        let changed = broadcast::Sender::new(CHANGES);
        let writer = Writer::start(location.engine, writer, changed.clone());
        Ok(Self {
            engine: location.engine,
            readers,
            writer,
            changed,
        })
    }
}

async fn migrate(engine: Engine, pool: &AnyPool, target: Option<i64>) -> Result<(), OpenError> {
    let mut conn = pool
        .acquire()
        .await
        .map_err(|source| OpenError::Connect { engine, source })?;
    let outcome = migrator().run_direct(target, &mut *conn, false).await;
    if outcome.is_err() {
        // It may still hold the migration lock.
        drop(conn.detach().close().await);
    }
    outcome.map_err(|error| match error {
        MigrateError::VersionMissing(version) => OpenError::NewerVersion { version },
        other => OpenError::Migrate(other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlx::Row;

    /// `PRAGMA temp_store`: 0 as compiled, 1 files, 2 memory.
    #[tokio::test]
    async fn every_connection_keeps_temporary_tables_and_journals_in_memory() {
        install_default_drivers();
        let database = crate::testing::sqlite();
        for role in [Role::Writer, Role::Reader] {
            let pool = database.location.pool(role).await.unwrap();
            let mut open = Vec::new();
            for _ in 0..pool.options().get_max_connections() {
                let mut conn = pool.acquire().await.unwrap();
                let row = conn.fetch_one(sqlx::raw_sql("PRAGMA temp_store")).await;
                let stored: i64 = row.unwrap().try_get(0).unwrap();
                assert_eq!(stored, 2, "{role:?}");
                open.push(conn);
            }
        }
    }
}
