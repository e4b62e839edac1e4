//! `backup restore`.

use super::super::globals::Globals;
use super::super::offline::{RUNNING, note_change, sqlite_path};
use super::super::output::{Output, line, note};
use super::super::{progress, usage};
use super::{KeyArgs, manifest_record, open_file};
use anyhow::{Context, Result, bail, ensure};
use gatehouse::data_dir::{self, DataDirError, Locks};
use gatehouse_auth::audit::kinds;
use gatehouse_backup::folder::NewFile;
use gatehouse_backup::{Manifest, RestoredFile};
use gatehouse_config::{DatabaseUrl, Layers};
use gatehouse_domain::{Clock, SystemClock};
use gatehouse_secrets::PROVIDER_FILES;
use gatehouse_services::backup::{
    DRILL_KEY, PLACE_KEY, SETTINGS_FILE, STATE_KEY, database_location,
};
use gatehouse_sources::profile_file::PROFILES_DIRECTORY;
use gatehouse_store::{FileOwner, ImportError};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

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

/// The suffix of a restored file whose name is already taken.
const BESIDE: &str = "from-backup";

/// What a started copy does while the original runs.
const RUNS_LIKE_THE_ORIGINAL: &str = "A server that is started on this data polls the same channel accounts, runs the \
    schedules and sends notifications. If the original still runs, do not start it with access to the network. \
    `gatehouse backup verify` checks a backup without a start.";

/// The changes that were made after the rows were written.
struct Outcome {
    held: u64,
    /// Whether the credentials of the backup were deleted, and how many there were.
    is_revoked: bool,
    revoked: u64,
    /// The settings file of the backup, if it was not put in place.
    settings_beside: Option<PathBuf>,
    /// Profiles of the backup that were not put in place.
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
    // The copy must not claim the backups that the original has made since then.
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

/// Takes the locks and checks that there is nothing that the restore would replace. The database is checked
/// when the restore begins.
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

/// The settings file gets another name if there is one already, or if it names a database: the server must
/// not start on the old one.
fn place_of(layers: &Layers, file: &RestoredFile) -> Result<PathBuf> {
    if PROVIDER_FILES.contains(&file.name.as_str()) {
        return Ok(layers.data_dir().join(&file.name));
    }
    if let Some((PROFILES_DIRECTORY, profile)) = file.name.split_once('/') {
        let path = layers.data_dir().join(PROFILES_DIRECTORY).join(profile);
        return Ok(if path.exists() { beside(&path) } else { path });
    }
    ensure!(
        file.name == SETTINGS_FILE,
        "the backup contains an unknown file"
    );
    let path = layers.config_path();
    let text = String::from_utf8_lossy(&file.data);
    let names_database = text
        .lines()
        .any(|line| !line.trim_start().starts_with('#') && line.contains("database"));
    if path.exists() || names_database {
        return Ok(settings_beside(layers));
    }
    Ok(path.to_path_buf())
}

fn settings_beside(layers: &Layers) -> PathBuf {
    beside(&layers.data_dir().join(SETTINGS_FILE))
}

/// The name of a file of the backup that does not replace an existing one.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(BESIDE);
    name.into()
}

/// The files that were written. Dropping it deletes them, so that a failed restore can be repeated.
struct Written {
    owner: FileOwner,
    paths: Vec<PathBuf>,
}

impl Written {
    fn write(&mut self, path: PathBuf, data: &[u8]) -> Result<()> {
        let fail = || format!("cannot write {}", path.display());
        let file = NewFile::create_for(self.owner, &path, NewFile::create).with_context(fail)?;
        (&file).write_all(data).with_context(fail)?;
        file.keep().with_context(fail)?;
        self.paths.push(path);
        Ok(())
    }

    /// Writes the files of a backup. Returns the settings file and the profiles that were not put in place.
    async fn write_all(
        &mut self,
        layers: &Layers,
        files: &[RestoredFile],
    ) -> Result<(Option<PathBuf>, Vec<PathBuf>)> {
        let (mut settings, mut profiles) = (None, Vec::new());
        for file in files {
            let path = place_of(layers, file)?;
            if file.name == SETTINGS_FILE {
                settings = Some(path.clone()).filter(|path| path != layers.config_path());
            } else if path.extension().is_some_and(|it| it == BESIDE) {
                let existing = tokio::fs::read(path.with_extension("")).await;
                if existing.is_ok_and(|existing| existing == *file.data) {
                    continue;
                }
                profiles.push(path.clone());
            }
            self.write(path, &file.data)?;
        }
        Ok((settings, profiles))
    }

    fn keep(&mut self) {
        self.paths.clear();
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        for path in &self.paths {
            drop(std::fs::remove_file(path));
        }
    }
}

/// Describes the location of the rows for people. Omits the address of a database, which may contain its password.
fn target_of(database: &DatabaseUrl, layers: &Layers) -> String {
    match database {
        DatabaseUrl::Postgres { .. } => "the PostgreSQL database".to_owned(),
        DatabaseUrl::Sqlite { .. } => layers.data_dir().display().to_string(),
    }
}

fn report(out: &Output, target: &str, manifest: &Manifest, outcome: &Outcome) -> Result<()> {
    let mut record = manifest_record(manifest);
    if let Some(fields) = record.as_object_mut() {
        fields.insert("held".to_owned(), outcome.held.into());
        fields.insert("revoked".to_owned(), outcome.revoked.into());
        fields.insert("settings_beside".to_owned(), json!(outcome.settings_beside));
        fields.insert("profiles_beside".to_owned(), json!(outcome.profiles_beside));
    }
    out.record(&record, || {
        line(format!(
            "Restored {} rows into {target}.",
            manifest.rows()
        ));
        let valid = if outcome.is_revoked {
            "The password and passkeys are as they were then: later changes and removals are undone."
        } else {
            "The password, passkeys, API keys, devices, sessions, paired people and share links are as they were \
             then: later changes and removals are undone. --revoke-credentials deletes all but the password and \
             passkeys."
        };
        note(format!(
            "This is the state of {}. {valid} Deliveries received since then are unknown, so repeats of them are not \
             recognized.",
            manifest.created_at
        ));
        note("The vault opens with the password or the recovery key of that time.");
        note(RUNS_LIKE_THE_ORIGINAL);
        if outcome.held > 0 {
            note(format!(
                "{} deliveries are held. Release them with: gatehouse webhooks release",
                outcome.held
            ));
        }
        if outcome.is_revoked {
            note(format!(
                "{} sessions, API keys, devices, paired people, allowed calls, notifications of browsers and share \
                 links were deleted.",
                outcome.revoked
            ));
        }
        if let Some(path) = &outcome.settings_beside {
            note(format!(
                "The settings file of the backup is in {}. Compare it with yours.",
                path.display()
            ));
        }
        for path in &outcome.profiles_beside {
            note(format!(
                "A profile of the backup is in {}, because another profile has its name. Compare them.",
                path.display()
            ));
        }
    })
}
