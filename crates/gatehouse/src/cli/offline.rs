//! Direct access to the data directory. With SQLite, the server must be stopped, which its lock shows. A command that
//! can safely run beside a server is an exception, if both have the same version. PostgreSQL supports several
//! processes.

use super::client::ClientError;
use super::globals::Globals;
use super::output::{note, warn};
use anyhow::{Error, Result, anyhow, ensure};
use gatehouse::data_dir::{DataDirError, Locks};
use gatehouse::{Gateway, OpenError, Parts, Purpose, Storage};
use gatehouse_config::{DatabaseUrl, Layers};
use gatehouse_domain::{Actor, SystemClock, SystemRandom};
use gatehouse_services::backup::database_location;
use gatehouse_store::{Snapshot, migration_versions};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The error of commands that need a stopped server.
pub const RUNNING: &str = "a server is running on this data directory";
/// The instructions for naming the database of a server.
pub const CHOOSE: &str = "name the server's data directory with --data-dir, and give this command the server's \
                          variables, such as SERVICE_DATABASE_URL";

/// Returns the system clock and randomness.
pub fn parts() -> Parts {
    Parts {
        clock: Arc::new(SystemClock::new()),
        random: Arc::new(SystemRandom),
    }
}

/// Returns `None` if a server has the lock.
fn unless_locked<T>(opened: Result<T, OpenError>) -> Result<Option<T>> {
    match opened {
        Ok(opened) => Ok(Some(opened)),
        Err(OpenError::DataDir(DataDirError::Locked { .. })) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Opens all crates on the data directory. Returns `None` if a server has the lock.
pub async fn gateway(globals: &Globals) -> Result<Option<Gateway>> {
    unless_locked(Gateway::open(globals.layers()?, parts(), Purpose::Command).await)
}

/// Opens all crates like [`gateway`]. Reports if it created the database, because a server with other variables uses
/// another database.
pub async fn gateway_or_new(globals: &Globals, layers: &Layers) -> Result<Option<Gateway>> {
    let missing = missing_path(layers)?;
    let gateway = gateway(globals).await?;
    if let (Some(path), Some(_)) = (missing, &gateway) {
        note(format!(
            "There was no database {}, so one was created. If the server uses another one: {CHOOSE}.",
            path.display()
        ));
    }
    Ok(gateway)
}

/// Opens only the database. Returns `None` if a server has the lock.
pub async fn storage(layers: &Layers) -> Result<Option<Storage>> {
    unless_locked(Storage::open(layers, Purpose::Command).await)
}

/// Records a command's change of the whole database in the audit log. A failure to record does not fail the command.
pub async fn note_change(globals: &Globals, kind: &'static str, detail: Value) {
    let opened = match globals.layers() {
        Ok(layers) => Gateway::open(layers, parts(), Purpose::Command).await,
        Err(error) => return warn(format!("the settings cannot be read: {error:#}")),
    };
    match opened {
        Ok(gateway) => {
            let auth = &gateway.services.auth;
            auth.note_change(kind, Actor::cli(), detail).await;
            gateway.close().await;
        }
        Err(error) => warn(format!(
            "the database cannot be opened: {:#}",
            anyhow::Error::from(error)
        )),
    }
}

/// Returns the error of a command whose server does not respond. If no URL was given, the command calls the server
/// because a server has the lock of the data directory.
pub fn unreachable(globals: &Globals, layers: &Layers, error: ClientError) -> Result<Error> {
    if globals.given_url(layers)?.is_some() || sqlite_path(layers)?.is_none() {
        return Ok(error.into());
    }
    Ok(unusable(&error))
}

/// Returns the error if the server that has the lock cannot be called.
fn unusable(error: &ClientError) -> Error {
    let what = match error {
        ClientError::Unreachable { url, .. } => format!("it does not respond at {url}"),
        error => error.to_string(),
    };
    anyhow!("{RUNNING}, but {what}; set its URL with --url, or stop it and try again")
}

/// Fails unless the database has the tables of this version. Opening it beside the running server then migrates
/// nothing. Does not ask the server, because it may listen on any address.
pub async fn ensure_same_schema(layers: &Layers) -> Result<()> {
    let url = layers.resolve(&BTreeMap::new())?.settings.database.url;
    let location = database_location(&url, layers.data_dir())?;
    let snapshot = Snapshot::open(&location).await?;
    ensure!(
        migration_versions().last() == Some(&snapshot.version()),
        "{RUNNING}, and its version differs from this program's: stop it and try again"
    );
    Ok(())
}

/// Returns the path of the SQLite database, or `None` for PostgreSQL.
pub fn sqlite_path(layers: &Layers) -> Result<Option<PathBuf>> {
    match layers.resolve(&BTreeMap::new())?.settings.database.url {
        DatabaseUrl::Sqlite { path } => Ok(Some(layers.data_dir().join(path))),
        DatabaseUrl::Postgres { .. } => Ok(None),
    }
}

/// Returns the path of the database if it does not exist or is empty.
pub fn missing_path(layers: &Layers) -> Result<Option<PathBuf>> {
    let has_content = |path: &PathBuf| path.metadata().is_ok_and(|found| found.len() > 0);
    Ok(sqlite_path(layers)?.filter(|path| !has_content(path)))
}

/// Returns whether the database exists. Read-only commands must not create one.
pub fn has_database(layers: &Layers) -> Result<bool> {
    Ok(missing_path(layers)?.is_none())
}

/// Returns the error of commands that need an existing database. It contains the missing file, and how to choose
/// another one. Returns `None` if the database exists.
pub fn missing_database(layers: &Layers) -> Result<Option<String>> {
    let path = missing_path(layers)?;
    Ok(path.map(|path| format!("there is no database {}; {CHOOSE}", path.display())))
}

/// Fails if the database does not exist.
pub fn ensure_database(layers: &Layers) -> Result<()> {
    match missing_database(layers)? {
        Some(missing) => Err(anyhow!(missing)),
        None => Ok(()),
    }
}

/// Returns whether a server has the lock. Creates no database for the check.
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
