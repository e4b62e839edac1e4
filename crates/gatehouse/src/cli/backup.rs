//! `backup`: create, verify, restore and list backups. A backup can be made while the server runs.

mod create;
mod download;
mod restore;
mod verify;

use super::client::Client;
use super::globals::Globals;
use super::output::{Output, plain, rows};
use super::{offline, prompt};
use anyhow::{Context, Result};
use gatehouse_backup::age::{Identity, Recipient};
use gatehouse_backup::folder::{self, Entry};
use gatehouse_backup::{Archive, Manifest, open};
use gatehouse_services::backup::{self, stored_settings};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// `gatehouse backup …`
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Write the database, the provider keys and the settings file to one file
    Create(create::Args),
    /// Restore a backup into a temporary directory and check it
    Verify {
        /// The backup
        file: PathBuf,
        #[command(flatten)]
        key: KeyArgs,
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

/// How to decrypt a backup.
#[derive(Debug, clap::Args)]
pub struct KeyArgs {
    /// File whose first line is the passphrase
    #[arg(long, value_name = "FILE", conflicts_with = "identity")]
    passphrase_file: Option<PathBuf>,
    /// File with an age identity, AGE-SECRET-KEY-1…
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
}

/// Runs a `backup` command.
pub async fn run(globals: &Globals, out: &Output, command: Command) -> Result<ExitCode> {
    match command {
        Command::Create(args) => create::run(globals, out, args).await,
        Command::Verify { file, key } => verify::run(globals, out, &file, &key).await,
        Command::Restore(args) => restore::run(globals, out, &args).await,
        Command::List { to } => list(globals, out, to).await,
    }
}

async fn list(globals: &Globals, out: &Output, directory: Option<PathBuf>) -> Result<ExitCode> {
    let layers = globals.layers()?;
    let head = ["created at", "size", "encrypted", "file"];
    if directory.is_none() && globals.given_url(&layers)?.is_some() {
        let client = Client::new(globals, &layers)?;
        let found = client.rpc("backup.list", json!({})).await?;
        let fields = ["created_at", "bytes", "encrypted", "name"];
        out.table(
            &found,
            &head,
            rows(&found, "backups", &fields),
            "No backups.",
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let directory = match directory {
        Some(directory) => directory,
        None if offline::has_database(&layers)? => {
            backup::directory(&layers, &stored_settings(&layers).await?)
        }
        None => backup::directory(&layers, &layers.resolve(&BTreeMap::new())?.settings.backup),
    };
    let found =
        folder::list(&directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let backups: Vec<Value> = found.iter().map(record).collect();
    let lines = found.iter().map(|entry| {
        let size = indicatif::BinaryBytes(entry.bytes).to_string();
        let encrypted = if entry.is_encrypted { "yes" } else { "no" };
        let path = plain(&entry.path.to_string_lossy());
        vec![
            entry.created_at.to_string(),
            size,
            encrypted.to_owned(),
            path,
        ]
    });
    let record = json!({ "backups": backups });
    out.table(&record, &head, lines.collect(), "No backups.")?;
    Ok(ExitCode::SUCCESS)
}

fn record(entry: &Entry) -> Value {
    json!({
        "path": entry.path, "created_at": entry.created_at, "bytes": entry.bytes,
        "encrypted": entry.is_encrypted,
    })
}

impl KeyArgs {
    fn identity(&self) -> Result<Option<Identity>> {
        if let Some(path) = &self.identity {
            let mut text = zeroize::Zeroizing::new(String::new());
            File::open(path)
                .and_then(|mut file| file.read_to_string(&mut text))
                .with_context(|| format!("cannot read {}", path.display()))?;
            return Ok(Some(Identity::parse(&text)?));
        }
        let Some(path) = &self.passphrase_file else {
            return Ok(None);
        };
        let passphrase = prompt::password("Passphrase", Some(path))?;
        Ok(Some(Identity::Passphrase(passphrase)))
    }
}

/// Returns the recipient that can decrypt a new backup.
fn recipient(text: Option<&str>, passphrase_file: Option<&Path>) -> Result<Option<Recipient>> {
    if let Some(text) = text {
        return Ok(Some(Recipient::parse(text)?));
    }
    let Some(path) = passphrase_file else {
        return Ok(None);
    };
    let passphrase = prompt::password("Passphrase", Some(path))?;
    Ok(Some(Recipient::Passphrase(passphrase)))
}

/// Opens a backup and reads its manifest.
fn open_file(path: &Path, key: &KeyArgs) -> Result<Archive<'static>> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let identity = key.identity()?;
    Ok(open(BufReader::new(file), identity.as_ref())?)
}

/// The facts about a backup for the JSON output.
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
