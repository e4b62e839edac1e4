//! `backup restore`.

mod report;
mod written;

use super::super::globals::Globals;
use super::super::offline::{RUNNING, note_change, sqlite_path};
use super::super::output::Output;
use super::super::{progress, usage};
use super::{KeyArgs, open_file};
use anyhow::{Context, Result, bail, ensure};
use gatehouse::data_dir::{self, DataDirError, Locks};
use gatehouse_auth::audit::kinds;
use gatehouse_config::{DatabaseUrl, Layers};
use gatehouse_domain::{Clock, SystemClock};
use gatehouse_secrets::PROVIDER_FILES;
use gatehouse_services::backup::{
    DRILL_KEY, PLACE_KEY, SETTINGS_FILE, STATE_KEY, database_location,
};
use gatehouse_store::{FileOwner, ImportError};
use report::report;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use written::Written;

/// The flags of `backup restore`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The backup
    file: PathBuf,
    #[command(flatten)]
    key: KeyArgs,
    /// Run the deliveries that waited when the backup was created, instead of holding them
    #[arg(long)]
    release_queue: bool,
    /// Delete the restored sessions, API keys, devices, paired people, remembered approvals, push subscriptions and
    /// share links; the password and passkeys stay
    #[arg(long)]
    revoke_credentials: bool,
}

/// The suffix of a restored file whose name already exists.
const BESIDE: &str = "from-backup";

/// The changes that were made after the rows were written.
struct Outcome {
    held: u64,
    /// Whether the credentials of the backup were deleted, and their number.
    is_revoked: bool,
    revoked: u64,
    /// The settings file of the backup, if it did not get its original name.
    settings_beside: Option<PathBuf>,
    /// Profiles of the backup that did not get their original name.
    profiles_beside: Vec<PathBuf>,
}

/// Runs `backup restore`.
pub async fn run(globals: &Globals, out: &Output, args: &Args) -> Result<ExitCode> {
    let layers = globals.layers()?;
    usage::ensure(
        globals.given_url(&layers)?.is_none(),
        "a backup is restored into a data directory or a database; omit --url and unset SERVICE_URL",
    )?;
    let archive = open_file(&args.file, args.key.identity()?.as_ref())?;
    let manifest = archive.manifest().clone();
    let locks = prepare(&layers)?;
    let database = layers.resolve(&BTreeMap::new())?.settings.database.url;
    let location = database_location(&database, layers.data_dir())?;
    let bar = progress::bar("Restoring");
    let step = |done, total| progress::show(&bar, done, total);
    let restored = archive.restore(&location, step).await;
    bar.finish_and_clear();
    let mut restored = restored.context("nothing was restored")?;
    let held = if args.release_queue {
        0
    } else {
        restored
            .import
            .hold_deliveries(SystemClock::new().now())
            .await?
    };
    restored.import.delete_unanswered_messages().await?;
    let revoked = if args.revoke_credentials {
        restored.import.delete_credentials().await?
    } else {
        0
    };
    // The copy must not treat the original's later backups as its own.
    for state in [STATE_KEY, DRILL_KEY, PLACE_KEY] {
        restored.import.delete_setting(state).await?;
    }
    let mut written = Written {
        owner: FileOwner::of(layers.data_dir()),
        paths: Vec::new(),
    };
    let (settings_beside, profiles_beside) = written.write_all(&layers, &restored.files).await?;
    match restored.import.finish().await {
        Err(error @ ImportError::NotMigrated(_)) => {
            written.keep();
            return Err(error.into());
        }
        finished => finished?,
    }
    written.keep();
    drop(locks);
    let outcome = Outcome {
        held,
        is_revoked: args.revoke_credentials,
        revoked,
        settings_beside,
        profiles_beside,
    };
    let detail = json!({
        "created_at": manifest.created_at, "held": outcome.held, "revoked": outcome.revoked,
    });
    note_change(globals, kinds::BACKUP_RESTORED, detail).await;
    report(out, &target_of(&database, &layers), &manifest, &outcome)?;
    Ok(ExitCode::SUCCESS)
}

/// Takes the locks and checks that the restore would not replace anything. The database is checked when the restore
/// begins.
fn prepare(layers: &Layers) -> Result<Option<Locks>> {
    let data_dir = layers.data_dir();
    let files = PROVIDER_FILES.map(|name| data_dir.join(name));
    for path in files.into_iter().chain([settings_beside(layers)]) {
        ensure!(
            !path.exists(),
            "{} exists: restore into an empty data directory",
            path.display()
        );
    }
    data_dir::prepare(data_dir)?;
    let Some(database) = sqlite_path(layers)? else {
        return Ok(None);
    };
    let locks = match Locks::take(data_dir, &database) {
        Ok(locks) => locks,
        Err(DataDirError::Locked { .. }) => {
            bail!("{RUNNING}: stop the server and restore into an empty data directory")
        }
        Err(error) => return Err(error.into()),
    };
    drop(data_dir::open_private(&database)?);
    Ok(Some(locks))
}

fn settings_beside(layers: &Layers) -> PathBuf {
    beside(&layers.data_dir().join(SETTINGS_FILE))
}

/// Returns a name for a file of the backup that does not replace an existing file.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(BESIDE);
    name.into()
}

/// Describes the location of the rows for people. Omits the URL of a database, which may contain a password.
fn target_of(database: &DatabaseUrl, layers: &Layers) -> String {
    match database {
        DatabaseUrl::Postgres { .. } => "the PostgreSQL database".to_owned(),
        DatabaseUrl::Sqlite { .. } => layers.data_dir().display().to_string(),
    }
}
