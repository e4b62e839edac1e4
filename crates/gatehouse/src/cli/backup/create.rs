//! `backup create`.

mod report;

use super::super::client::{Client, ClientError};
use super::super::globals::Globals;
use super::super::output::{Output, field, line, warn};
use super::super::{offline, progress, prompt, usage};
use super::download::{self, Destination};
use super::target::{Target, UNENCRYPTED, new_file, refuse_terminal};
use super::{open_file, recipient, record, verify};
use anyhow::{Context, Error, Result, anyhow};
use gatehouse_backup::age::{FileKey, Identity, Recipient};
use gatehouse_backup::folder::{self, NewFile};
use gatehouse_backup::{Created, Source, create};
use gatehouse_config::Layers;
use gatehouse_domain::{Clock, ErrorCode, SystemClock, SystemRandom};
use gatehouse_services::backup::{source, stored_settings};
use gatehouse_store::FileOwner;
use report::report;
use secrecy::ExposeSecret;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The flags of `backup create`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// File, directory, or - for standard output [default: the setting backup.to]
    #[arg(long, value_name = "FILE|DIR|-")]
    to: Option<PathBuf>,
    /// Encrypt to this age recipient, age1…; may be repeated [default: the setting backup.recipient]
    #[arg(long, value_name = "AGE", conflicts_with = "passphrase_file")]
    recipient: Vec<String>,
    /// Encrypt with the passphrase in the first line of this file
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// Afterwards, delete all backups in the directory except the newest N
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    keep: Option<u16>,
    /// Restore the backup into a temporary directory and check it, before older ones are deleted
    #[arg(long)]
    verify: bool,
}

impl Args {
    /// Returns the recipients in the form of `backup.recipient`, if there are any.
    fn recipients(&self) -> Option<String> {
        (!self.recipient.is_empty()).then(|| self.recipient.join(" "))
    }
}

/// Runs `backup create`.
pub async fn run(globals: &Globals, out: &Output, args: Args) -> Result<ExitCode> {
    let layers = globals.layers()?;
    if let Some(Err(error)) = args.recipients().as_deref().map(Recipient::parse) {
        return Err(usage::wrong(format!("--recipient: {error}")));
    }
    if globals.given_url(&layers)?.is_some() {
        usage::ensure(
            !args.verify,
            "--verify is for a backup of this machine; omit --url and unset SERVICE_URL",
        )?;
        let made = on_server(globals, &layers, out, &args).await;
        return made.map_err(name_local_command);
    }
    offline::ensure_database(&layers)?;
    let stored = stored_settings(&layers).await?;
    let named = args.recipients();
    let set = stored.settings.recipient.clone();
    let target = if let Some(to) = args.to {
        Target::of(to)
    } else {
        let place = stored.place(&layers);
        place.check()?;
        Target::Directory(place.directory)
    };
    usage::ensure(
        args.keep.is_none() || matches!(target, Target::Directory(_)),
        "--keep needs a directory",
    )?;
    usage::ensure(
        !args.verify || !matches!(target, Target::Stdout),
        "--verify needs a file or a directory",
    )?;
    let set = set.as_deref();
    let named = named.as_deref();
    let named = named.or(set.filter(|_| args.passphrase_file.is_none()));
    let recipient = recipient(named, args.passphrase_file.as_deref())?;
    let database = layers.resolve(&BTreeMap::new())?.settings.database.url;
    let now = SystemClock::new().now();
    let source = source(&layers, &database, env!("CARGO_PKG_VERSION"), now)?;
    let owner = FileOwner::of(layers.data_dir());
    let file = match target {
        Target::Stdout => None,
        Target::File(path) => Some(new_file(owner, &path, NewFile::create)?),
        Target::Directory(directory) => {
            let path = directory.join(folder::file_name(now, recipient.is_some()));
            Some(new_file(owner, &path, NewFile::create_numbered)?)
        }
    };
    let is_encrypted = recipient.is_some();
    if !is_encrypted {
        warn(UNENCRYPTED);
    }
    let Some(file) = file else {
        to_stdout(&source, recipient.as_ref()).await?;
        return Ok(ExitCode::SUCCESS);
    };
    let (mut created, path) = to_file(&source, recipient.as_ref(), file).await?;
    let key = created.key.take();
    if args.verify {
        verify_made(globals, &path, key).await?;
    }
    let deleted = prune(args.keep, &path)?;
    report(out, &path, &created, is_encrypted, args.verify, &deleted)?;
    Ok(ExitCode::SUCCESS)
}

/// Restores the new backup into a temporary directory, and checks it.
async fn verify_made(globals: &Globals, path: &Path, key: Option<FileKey>) -> Result<()> {
    let identity = key.map(Identity::FileKey);
    let verified = match open_file(path, identity.as_ref()) {
        Ok(archive) => verify::try_restore(globals, archive).await,
        Err(error) => Err(error),
    };
    verified.with_context(|| {
        format!(
            "{} was written, but its trial restore did not succeed; no older backup was deleted",
            path.display()
        )
    })
}

/// Deletes the backups in the directory of `made`, except the newest `keep`. Returns the records of the deleted
/// backups.
fn prune(keep: Option<u16>, made: &Path) -> Result<Vec<Value>> {
    let (Some(keep), Some(directory)) = (keep, made.parent()) else {
        return Ok(Vec::new());
    };
    let deleted = folder::prune(directory, keep.into(), made).with_context(|| {
        format!(
            "{} was written, but old backups were not deleted",
            made.display()
        )
    })?;
    Ok(deleted.iter().map(record).collect())
}

/// Requests a backup from the server. The server stores it in its own directory. With `--to`, this
/// machine stores it.
async fn on_server(
    globals: &Globals,
    layers: &Layers,
    out: &Output,
    args: &Args,
) -> Result<ExitCode> {
    let file = args.passphrase_file.as_deref();
    let passphrase = file.map(|path| prompt::password("Passphrase", Some(path)));
    let passphrase = passphrase.transpose()?;
    let wanted = [
        ("recipient", args.recipients().map(Value::from)),
        (
            "passphrase",
            passphrase.map(|text| text.expose_secret().into()),
        ),
        // If the backup is stored here, this machine deletes older backups.
        (
            "keep",
            args.keep.filter(|_| args.to.is_none()).map(Value::from),
        ),
    ];
    let given = wanted
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let params = Value::Object(given.collect());
    let client = Client::new(globals, layers)?;
    if let Some(to) = args.to.clone() {
        let to = Destination {
            target: Target::of(to),
            keep: args.keep,
        };
        return download::run(&client, out, &params, to).await;
    }
    let made = client.rpc("backup.create", params).await?;
    if made.get("encrypted") == Some(&Value::Bool(false)) {
        warn(UNENCRYPTED);
    }
    out.record(&made, || line(field(&made, "name")))?;
    Ok(ExitCode::SUCCESS)
}

/// Adds a note to the refusal of a sealed server: the command on the server's machine does not need
/// the vault.
fn name_local_command(error: Error) -> Error {
    match error.downcast_ref() {
        Some(ClientError::Refused(refusal)) if refusal.code == ErrorCode::VaultSealed.name() => {
            anyhow!(
                "{error:#}; or use the command on the server's machine without --url, which works while the vault is \
                 sealed: gatehouse backup create"
            )
        }
        _ => error,
    }
}

async fn to_stdout(source: &Source, recipient: Option<&Recipient>) -> Result<()> {
    refuse_terminal()?;
    let stdout = std::io::stdout().lock();
    write(source, recipient, stdout).await.map(drop)
}

/// Writes the backup, and returns its path.
async fn to_file(
    source: &Source,
    recipient: Option<&Recipient>,
    file: NewFile,
) -> Result<(Created, PathBuf)> {
    let mut to = BufWriter::new(&file);
    let created = write(source, recipient, &mut to).await?;
    to.flush()?;
    drop(to);
    let path = file.keep().context("cannot write the backup")?;
    Ok((created, path))
}

async fn write(source: &Source, recipient: Option<&Recipient>, to: impl Write) -> Result<Created> {
    let bar = progress::bar("Backing up");
    let step = |done, total| progress::show(&bar, done, total);
    let created = create(to, source, recipient, &SystemRandom, step).await;
    bar.finish_and_clear();
    Ok(created?)
}
