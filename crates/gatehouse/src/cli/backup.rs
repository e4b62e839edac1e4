//! `backup`: create, verify, restore and list backups. A backup can be made while the server runs.

mod create;
mod download;
mod keys;
mod restore;
mod target;
mod verify;

use super::client::Client;
use super::globals::Globals;
use super::offline;
use super::output::{Output, field, note};
use anyhow::{Context, Result};
use gatehouse_backup::age::Identity;
use gatehouse_backup::folder::{self, Entry};
use gatehouse_backup::{Archive, Manifest, open};
use gatehouse_config::Layers;
use gatehouse_services::backup::{self, Checks, stored_settings};
use keys::{KeyArgs, recipient};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// `gatehouse backup …`
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Write the database, the provider keys, the settings file and the profiles to one file
    Create(create::Args),
    /// Restore a backup into a temporary directory and check it
    Verify {
        /// The backup
        file: PathBuf,
        #[command(flatten)]
        key: KeyArgs,
        #[command(flatten)]
        trial: verify::TrialArgs,
    },
    /// Restore a backup into an empty data directory or database
    Restore(restore::Args),
    /// List the backups in a directory, newest first
    List {
        /// The directory [default: the setting backup.to]
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
    },
}

/// Runs a `backup` command.
pub async fn run(globals: &Globals, out: &Output, command: Command) -> Result<ExitCode> {
    match command {
        Command::Create(args) => Box::pin(create::run(globals, out, args)).await,
        Command::Verify { file, key, trial } => {
            verify::run(globals, out, &file, &key, &trial).await
        }
        Command::Restore(args) => Box::pin(restore::run(globals, out, &args)).await,
        Command::List { to } => list(globals, out, to).await,
    }
}

async fn list(globals: &Globals, out: &Output, directory: Option<PathBuf>) -> Result<ExitCode> {
    let layers = globals.layers()?;
    let head = ["created at", "size", "encrypted", "checked", "file"];
    if directory.is_none() && globals.given_url(&layers)?.is_some() {
        let client = Client::new(globals, &layers)?;
        let found = client.list("backup.list", "backups").await?;
        let listed = found.get("backups").and_then(Value::as_array);
        let lines = listed.into_iter().flatten().map(|it| cells(it, "name"));
        out.table(&found, &head, lines.collect(), "No backups.")?;
        return Ok(ExitCode::SUCCESS);
    }
    let (directory, checks) = match directory {
        Some(directory) => {
            let checks = checks_in(&layers, &directory).await;
            (directory, checks)
        }
        None => own_directory(&layers).await?,
    };
    let found =
        folder::list(&directory).with_context(|| format!("cannot read {}", directory.display()))?;
    if !directory.exists() {
        note(format!("{} does not exist.", directory.display()));
    }
    let backups: Vec<Value> = found.iter().map(|entry| listed(entry, &checks)).collect();
    let lines = backups.iter().map(|it| cells(it, "path")).collect();
    let record = json!({ "backups": backups });
    out.table(&record, &head, lines, "No backups.")?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the cells of a listed backup. `file` is the field with its name, because a server returns no path.
fn cells(backup: &Value, file: &str) -> Vec<String> {
    let bytes = backup.get("bytes").and_then(Value::as_u64);
    let is_encrypted = backup.get("encrypted") == Some(&Value::Bool(true));
    vec![
        field(backup, "created_at"),
        indicatif::BinaryBytes(bytes.unwrap_or_default()).to_string(),
        if is_encrypted { "yes" } else { "no" }.to_owned(),
        checked(backup),
        field(backup, file),
    ]
}

/// Returns the directory of `backup.to`, and the recorded checks of its backups.
async fn own_directory(layers: &Layers) -> Result<(PathBuf, Checks)> {
    let (settings, checks) = if offline::has_database(layers)? {
        let stored = stored_settings(layers).await?;
        (stored.settings, stored.checks)
    } else {
        let settings = layers.resolve(&BTreeMap::new())?.settings.backup;
        (settings, Checks::default())
    };
    Ok((backup::directory(layers, &settings), checks))
}

/// Returns the stored results of the checks of backups if this is the directory of `backup.to`, and otherwise none. On
/// PostgreSQL, does not connect to the database if the settings file and the environment set a different directory.
async fn checks_in(layers: &Layers, directory: &Path) -> Checks {
    let fixed = layers.resolve(&BTreeMap::new());
    let named = fixed.map(|fixed| backup::directory(layers, &fixed.settings.backup));
    let is_named = named.is_ok_and(|named| is_same(&named, directory));
    let is_file = matches!(offline::sqlite_path(layers), Ok(Some(_)));
    if !is_named && !is_file {
        return Checks::default();
    }
    match own_directory(layers).await {
        // The directories are compared, because installations with the same schedule use the same
        // names for their backups.
        Ok((own, checks)) if is_same(&own, directory) => checks,
        Ok(_) => Checks::default(),
        Err(error) => {
            note(format!("The last checks cannot be shown: {error:#}"));
            Checks::default()
        }
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    let (one, other) = (one.canonicalize(), other.canonicalize());
    one.is_ok_and(|one| other.is_ok_and(|other| one == other))
}

fn record(entry: &Entry) -> Value {
    json!({
        "path": entry.path, "created_at": entry.created_at, "bytes": entry.bytes,
        "encrypted": entry.is_encrypted,
    })
}

/// Returns the record of a backup, with its last check.
fn listed(entry: &Entry, checks: &Checks) -> Value {
    let name = entry.path.file_name().unwrap_or_default();
    let mut record = record(entry);
    if let (Some(fields), Some(checked)) =
        (record.as_object_mut(), checks.of(&name.to_string_lossy()))
    {
        fields.insert("checked".to_owned(), json!(checked));
    }
    record
}

/// Returns the last check of a listed backup as text.
fn checked(backup: &Value) -> String {
    let Some(checked) = backup.get("checked").filter(|checked| checked.is_object()) else {
        return "-".to_owned();
    };
    let result = match field(checked, "result").as_str() {
        "restored" => "trial restore succeeded",
        "decrypted" => "decrypted and compared, not restored",
        "file_unchanged" => "file unchanged, not restored",
        "header_only" => "header only, not restored",
        "unusable" => "DAMAGED",
        _ => "could not be checked",
    };
    format!("{result} ({})", field(checked, "at"))
}

/// Opens a backup and reads its manifest.
fn open_file(path: &Path, identity: Option<&Identity>) -> Result<Archive<'static>> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    Ok(open(BufReader::new(file), identity)?)
}

/// Returns the facts about a backup for the JSON output.
fn manifest_record(manifest: &Manifest) -> Value {
    let tables = manifest.tables.iter();
    let rows: serde_json::Map<String, Value> = tables
        .map(|table| (table.name.clone(), table.rows.into()))
        .collect();
    json!({
        "created_at": manifest.created_at, "version": manifest.version, "schema": manifest.schema,
        "engine": manifest.engine, "rows": rows, "files": manifest.files,
    })
}
