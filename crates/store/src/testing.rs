//! Temporary databases for the tests of all crates. Each test runs on SQLite and, if the test command started
//! a server, on a PostgreSQL database that only this test uses.

pub mod rows;
mod statements;
mod template;

use crate::dialect::Engine;
use crate::{Location, Store};
pub use statements::{
    CommitWatch, hold_write_lock, migrate, migrate_as_newer, number, run_sql, until_waits_for,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A database for a single test, with a directory for files.
#[derive(Debug)]
pub struct TestDatabase {
    pub location: Location,
    directory: PathBuf,
}

impl TestDatabase {
    pub const fn engine(&self) -> Engine {
        self.location.engine()
    }

    /// Returns the directory of this test.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the same database for another node with a separate directory.
    #[must_use]
    pub fn for_another_node(&self) -> Self {
        Self {
            location: self.location.clone(),
            directory: fresh_directory(&fresh_name()),
        }
    }

    pub async fn open(&self) -> Store {
        match Store::open(&self.location).await {
            Ok(store) => store,
            Err(error) => panic!("cannot open the test database: {error:?}"),
        }
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.directory));
    }
}

static NUMBER: AtomicU32 = AtomicU32::new(0);

fn fresh_name() -> String {
    let clock: &dyn gatehouse_domain::Clock = &gatehouse_domain::SystemClock::new();
    let millis = clock.now().as_millis();
    format!(
        "gh_{}_{millis}_{}",
        std::process::id(),
        NUMBER.fetch_add(1, Ordering::SeqCst)
    )
}

fn fresh_directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(name);
    if let Err(error) = std::fs::create_dir_all(&directory) {
        panic!("cannot make {}: {error}", directory.display());
    }
    directory
}

/// Creates an empty SQLite database.
pub fn empty_sqlite() -> TestDatabase {
    let directory = fresh_directory(&fresh_name());
    TestDatabase {
        location: Location::sqlite_file(&directory.join("gatehouse.db")),
        directory,
    }
}

/// Creates a SQLite database with the current schema.
pub fn sqlite() -> TestDatabase {
    let database = empty_sqlite();
    let copied = std::fs::copy(template::sqlite(), database.directory.join("gatehouse.db"));
    if let Err(error) = copied {
        panic!("cannot copy the database with the current schema: {error}");
    }
    database
}

/// Creates an empty PostgreSQL database. Without a server from the test command it prints a notice and
/// returns `None`, or panics in strict mode (as in CI).
pub async fn empty_postgres() -> Option<TestDatabase> {
    let server = PostgresServer::of_test_command()?;
    let name = fresh_name();
    run_sql(&server.base(), &format!("CREATE DATABASE {name}")).await;
    Some(server.database(&name))
}

/// Like [`empty_postgres`], with the current schema.
pub async fn postgres() -> Option<TestDatabase> {
    let server = PostgresServer::of_test_command()?;
    let (name, template) = (fresh_name(), template::postgres(&server).await);
    let create = format!("CREATE DATABASE {name} TEMPLATE {template}");
    run_sql(&server.base(), &create).await;
    Some(server.database(&name))
}

/// Returns the number of rows for tests of query plans, if the caller set one.
#[cfg(test)]
pub(crate) fn wanted_rows() -> Option<i64> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test's own variable, not a setting"
    )]
    let wanted = std::env::var("GATEHOUSE_PLAN_ROWS");
    wanted.ok()?.parse().ok()
}

/// The server of the test command.
struct PostgresServer(String);

impl PostgresServer {
    fn of_test_command() -> Option<Self> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the test command's own variables, not a setting"
        )]
        let (url, strict) = (
            std::env::var("GATEHOUSE_TEST_POSTGRES_URL")
                .ok()
                .filter(|url| !url.is_empty()),
            std::env::var("GATEHOUSE_TEST_STRICT").is_ok_and(|value| value == "1"),
        );
        if url.is_none() {
            assert!(
                !strict,
                "GATEHOUSE_TEST_POSTGRES_URL is not set, and this run must leave nothing out"
            );
            eprintln!("LEFT OUT: PostgreSQL, because GATEHOUSE_TEST_POSTGRES_URL is not set");
        }
        url.map(Self)
    }

    /// Returns the database that was created with the server.
    fn base(&self) -> Location {
        Self::parse(&self.0)
    }

    fn location(&self, name: &str) -> Location {
        let (server, parameters) = self
            .0
            .split_once('?')
            .map_or((self.0.as_str(), String::new()), |(a, b)| {
                (a, format!("?{b}"))
            });
        let base = server.rsplit_once('/').map_or(server, |(base, _)| base);
        Self::parse(&format!("{base}/{name}{parameters}"))
    }

    fn parse(url: &str) -> Location {
        let Ok(location) = Location::from_url(url) else {
            panic!("GATEHOUSE_TEST_POSTGRES_URL is no PostgreSQL URL");
        };
        location
    }

    fn database(&self, name: &str) -> TestDatabase {
        TestDatabase {
            location: self.location(name),
            directory: fresh_directory(name),
        }
    }
}

/// Creates one empty database for each available engine.
pub async fn empty_databases() -> Vec<TestDatabase> {
    let mut all = vec![empty_sqlite()];
    all.extend(empty_postgres().await);
    all
}

/// Creates one database with the current schema for each available engine.
pub async fn databases() -> Vec<TestDatabase> {
    let mut all = vec![sqlite()];
    all.extend(postgres().await);
    all
}
