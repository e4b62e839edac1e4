//! Works on the data directory itself. With SQLite the server must be stopped, which its lock tells, or
//! be of this very version where the command is harmless beside it; PostgreSQL is made for several.

use super::client::Client;
use super::globals::Globals;
use anyhow::{Result, bail, ensure};
use gatehouse::data_dir::{DataDirError, Locks};
use gatehouse::{Ground, House, OpenError, Parts, Purpose};
use gatehouse_config::{DatabaseUrl, Layers};
use gatehouse_domain::{SystemClock, SystemRandom};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Why a command that works on the data directory does not go on.
pub const RUNNING: &str = "a server is running on this data directory";

/// Time and randomness of the machine.
pub fn parts() -> Parts {
    Parts {
        clock: Arc::new(SystemClock::new()),
        random: Arc::new(SystemRandom),
    }
}

/// `None` when a server has the lock.
fn unless_locked<T>(opened: Result<T, OpenError>) -> Result<Option<T>> {
    match opened {
        Ok(opened) => Ok(Some(opened)),
        Err(OpenError::DataDir(DataDirError::Locked { .. })) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The rooms on the data directory; `None` when a server has the lock.
pub async fn house(globals: &Globals) -> Result<Option<House>> {
    unless_locked(House::open(globals.layers()?, parts(), Purpose::Command).await)
}

/// The database alone; `None` when a server has the lock.
pub async fn ground(layers: &Layers) -> Result<Option<Ground>> {
    unless_locked(Ground::open(layers, Purpose::Command).await)
}

/// Whether the running server is of this very version, so that this program knows its tables.
pub async fn ensure_same_version(client: &Client) -> Result<()> {
    let health = match client.get("/health").await {
        Ok(health) => health,
        Err(error) => bail!("{RUNNING}, but {error}; or stop it and try again"),
    };
    let version = health.get("version").and_then(Value::as_str);
    ensure!(
        version == Some(env!("CARGO_PKG_VERSION")),
        "{RUNNING}, and it is of another version than this program: stop it and try again"
    );
    Ok(())
}

/// Where the SQLite database is; nowhere for PostgreSQL.
pub fn sqlite_path(layers: &Layers) -> Result<Option<PathBuf>> {
    match layers.resolve(&BTreeMap::new())?.settings.database.url {
        DatabaseUrl::Sqlite { path } => Ok(Some(layers.data_dir().join(path))),
        DatabaseUrl::Postgres { .. } => Ok(None),
    }
}

/// Whether there is a database, so that a command that only looks does not make one.
pub fn has_database(layers: &Layers) -> Result<bool> {
    Ok(sqlite_path(layers)?.is_none_or(|path| path.exists()))
}

/// Whether a server has the lock; nothing is made in order to know.
pub fn is_locked(layers: &Layers) -> Result<bool> {
    let Some(path) = sqlite_path(layers)?.filter(|path| path.exists()) else {
        return Ok(false);
    };
    match Locks::take(layers.data_dir(), &path) {
        Ok(_locks) => Ok(false),
        Err(DataDirError::Locked { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    }
}
