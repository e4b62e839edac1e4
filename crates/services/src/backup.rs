//! Backups of this installation: content, location and schedule.

mod drill;
mod place;
mod schedule;
mod stream;

pub use drill::{
    CheckResult, CheckedBackup, Checks, DrillError, KEY as DRILL_KEY, Trial, VerifyBackup,
};
pub(crate) use drill::{Drills, check as check_drill};
pub use place::{BackupDirectory, KEY as PLACE_KEY, PlaceError};
pub use schedule::KEY as STATE_KEY;
pub(crate) use schedule::check;
pub use stream::StreamedBackup;

use crate::Services;
use gatehouse_backup::age::Recipient;
use gatehouse_backup::folder::{self, Entry, NewFile};
use gatehouse_backup::{BackupError, Created, Source, create};
use gatehouse_config::{BackupSettings, ConfigError, DatabaseUrl, InvalidValue, Layers};
use gatehouse_domain::{ErrorCode, Problem, Timestamp};
use gatehouse_secrets::PROVIDER_FILES;
use gatehouse_sources::profile_file::PROFILES_DIRECTORY;
use gatehouse_store::{Cell, FileOwner, Location, OpenError, Snapshot};
use metrics::gauge;
use schemars::JsonSchema;
use secrecy::ExposeSecret;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// The name of the settings file in a backup.
pub const SETTINGS_FILE: &str = "gatehouse.toml";
/// The directory for backups in the data directory.
pub const DIRECTORY: &str = "backups";

/// Describes and initializes the metrics.
pub(crate) fn describe_metrics() {
    schedule::describe_metrics();
    drill::describe_metrics();
}

/// Sets a metric to a time, if there is one.
fn show_time(metric: &'static str, at: Option<Timestamp>) {
    if let Some(at) = at {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a time in milliseconds fits in 53 bits"
        )]
        gauge!(metric).set(at.as_millis() as f64 / 1000.0);
    }
}

/// A backup in the directory for backups.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BackupInfo {
    /// The name of the file.
    pub name: String,
    pub created_at: Timestamp,
    /// Size of the file.
    pub bytes: u64,
    pub encrypted: bool,
    /// The result of its last check. Known for the backup that was checked last, for the last one whose content was
    /// read, and for the last unusable one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<CheckedBackup>,
}

/// A backup that was made.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CreatedBackup {
    #[serde(flatten)]
    pub backup: BackupInfo,
    /// Rows of all tables.
    pub rows: u64,
    /// Names of older backups that were deleted.
    pub deleted: Vec<String>,
}

/// The location of the database that the setting `database.url` names.
pub fn database_location(url: &DatabaseUrl, data_dir: &Path) -> Result<Location, OpenError> {
    match url {
        DatabaseUrl::Postgres { url } => Location::from_url(url.expose_secret()),
        DatabaseUrl::Sqlite { path } => Ok(Location::sqlite_file(&data_dir.join(path))),
    }
}

/// The files of a backup with their paths: the provider keys and the settings file. Profiles of senders are added
/// from their directory. Certificates, keys for automatic unsealing and caches are not part of it.
fn files(layers: &Layers) -> Vec<(String, PathBuf)> {
    let keys = PROVIDER_FILES
        .iter()
        .map(|name| ((*name).to_owned(), layers.data_dir().join(name)));
    let settings = (SETTINGS_FILE.to_owned(), layers.config_path().to_path_buf());
    keys.chain([settings]).collect()
}

/// Checks a value of `backup.recipient`, which the crate `config` does not parse.
pub fn check_recipient(text: &str) -> Result<(), InvalidValue> {
    let parsed = Recipient::parse(text).map(drop);
    parsed.map_err(|error| InvalidValue::new(error.to_string()))
}

/// Checks `backup.recipient` in the settings file and the environment. A wrong stored value is reported by `doctor`: it
/// must not prevent a start.
pub fn check_written_recipient(layers: &Layers) -> Result<(), ConfigError> {
    let written = layers.written()?;
    match written.settings.backup.recipient.as_deref() {
        Some(text) => {
            check_recipient(text).map_err(|reason| layers.error_at("backup.recipient", &reason))
        }
        None => Ok(()),
    }
}

/// Everything that a backup of this installation reads.
pub fn source(
    layers: &Layers,
    database: &DatabaseUrl,
    version: &str,
    now: Timestamp,
) -> Result<Source, OpenError> {
    Ok(Source {
        location: database_location(database, layers.data_dir())?,
        files: files(layers),
        directories: vec![(
            PROFILES_DIRECTORY.to_owned(),
            layers.data_dir().join(PROFILES_DIRECTORY),
        )],
        version: version.to_owned(),
        now,
    })
}

/// The directory for backups.
pub fn directory(layers: &Layers, settings: &BackupSettings) -> PathBuf {
    let name = settings.to.as_deref().unwrap_or(Path::new(DIRECTORY));
    layers.data_dir().join(name)
}

/// What the database has stored about backups.
#[derive(Debug)]
pub struct Stored {
    /// The settings for backups, with the run-time changes.
    pub settings: BackupSettings,
    /// The results of checks of backups.
    pub checks: Checks,
    /// The stored value of [`PLACE_KEY`].
    place: Option<Value>,
}

impl Stored {
    /// The directory for backups.
    pub fn place(self, layers: &Layers) -> BackupDirectory {
        BackupDirectory::new(directory(layers, &self.settings), layers, self.place)
    }
}

/// Reads what the database has stored about backups. Does not migrate the database.
pub async fn stored_settings(layers: &Layers) -> Result<Stored, BackupError> {
    let fixed = layers.resolve(&BTreeMap::new());
    let fixed = fixed.map_err(|error| BackupError::Io(io::Error::other(error)))?;
    let location = database_location(&fixed.settings.database.url, layers.data_dir())?;
    let mut snapshot = Snapshot::open(&location).await?;
    let table = snapshot
        .tables()
        .iter()
        .find(|table| table.name == "settings");
    let Some(table) = table.cloned() else {
        return Ok(Stored {
            settings: fixed.settings.backup,
            checks: Checks::default(),
            place: None,
        });
    };
    let (mut changes, mut after) = (BTreeMap::new(), None);
    let (mut checks, mut place) = (None, None);
    loop {
        let page = snapshot.read(&table, after).await?;
        for row in &page.rows {
            let [Cell::Text(key), Cell::Text(value), ..] = row.as_slice() else {
                continue;
            };
            let value = || serde_json::from_str(value).ok();
            if key == DRILL_KEY {
                checks = value();
            } else if key == PLACE_KEY {
                place = value();
            } else if key.starts_with("backup.") {
                changes.extend(value().map(|value| (key.clone(), value)));
            }
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let resolved = layers.resolve(&changes).unwrap_or(fixed);
    Ok(Stored {
        settings: resolved.settings.backup,
        checks: Checks::read(checks),
        place: place.filter(|_| !location.engine().is_shared()),
    })
}

/// A backup that may be made.
struct Begun {
    turn: OwnedMutexGuard<()>,
    recipient: Option<Recipient>,
    source: Source,
}

impl Services {
    /// Makes a backup in the directory for backups, then deletes all but the newest `keep`. By default, uses the
    /// recipient of the settings, if any. One backup is made at a time.
    pub async fn create_backup(
        &self,
        recipient: Option<Recipient>,
        keep: Option<usize>,
    ) -> Result<CreatedBackup, Problem> {
        let turn = turn_of(&self.backup_turn)?;
        self.create_backup_in(turn, recipient, keep).await
    }

    async fn create_backup_in(
        &self,
        turn: OwnedMutexGuard<()>,
        recipient: Option<Recipient>,
        keep: Option<usize>,
    ) -> Result<CreatedBackup, Problem> {
        self.store.check_guard().await?;
        self.ensure_own_database().await?;
        let now = self.clock.now();
        let Begun {
            turn,
            recipient,
            source,
        } = self.begin_backup(turn, recipient, now)?;
        let place = self.backup_place().await?;
        let found = self.examine_in_time(&place).await.map_err(failed)?;
        let directory = place.directory.clone();
        let owner = FileOwner::of(self.config.layers().data_dir());
        let random = Arc::clone(&self.random);
        let runtime = Handle::current();
        let work = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let path = directory.join(folder::file_name(now, recipient.is_some()));
            let file = NewFile::create_for(owner, &path, NewFile::create_numbered)?;
            let mut to = BufWriter::new(&file);
            let created = create(&mut to, &source, recipient.as_ref(), &*random, |_, _| {});
            let created = runtime.block_on(created)?;
            to.flush()?;
            drop(to);
            let path = file.keep()?;
            let deleted = keep.map_or(Ok(Vec::new()), |keep| {
                folder::prune(&directory, keep, &path)
            });
            let deleted = deleted.unwrap_or_else(|error| {
                tracing::warn!(%error, "old backups could not be deleted");
                Vec::new()
            });
            Ok::<_, BackupError>((path, created, deleted))
        });
        let (path, mut created, deleted) = work.await.map_err(failed)?.map_err(failed)?;
        let name = name_of(&path);
        if let Some(key) = created.key.take() {
            let sha256 = created.sha256.clone();
            self.note_checksum(name.clone(), sha256).await;
            self.keep_key(&name, key);
        }
        self.note_place(&place, found).await;
        Ok(described(name, &created, &deleted))
    }

    /// Waits until no backup is made in the directory for backups, and prevents others until the returned value is
    /// dropped. Tests call it in place of another backup.
    #[doc(hidden)]
    pub async fn hold_backups(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.backup_turn).lock_owned().await
    }

    /// Collects the input of a backup. By default, uses the recipient of the settings.
    fn begin_backup(
        &self,
        turn: OwnedMutexGuard<()>,
        recipient: Option<Recipient>,
        now: Timestamp,
    ) -> Result<Begun, Problem> {
        let resolved = self.config.resolved();
        let settings = &resolved.settings;
        let recipient = match (recipient, &settings.backup.recipient) {
            (Some(recipient), _) => Some(recipient),
            (None, Some(text)) => Some(Recipient::parse(text).map_err(failed)?),
            (None, None) => None,
        };
        let layers = self.config.layers();
        let source = source(layers, &settings.database.url, self.build.version, now);
        Ok(Begun {
            turn,
            recipient,
            source: source.map_err(failed)?,
        })
    }

    /// Lists the backups in the directory for backups, newest first.
    pub async fn list_backups(&self) -> Result<Vec<BackupInfo>, Problem> {
        let place = self.backup_place().await?;
        let found = self.list_in_time(place).await.map_err(not_listed)?;
        let checks = self.backup_checks().await?;
        Ok(found.iter().map(|entry| info(entry, &checks)).collect())
    }

    fn backup_directory(&self) -> PathBuf {
        let settings = &self.config.resolved().settings.backup;
        directory(self.config.layers(), settings)
    }
}

/// Reserves a turn to make a backup. Fails while another backup has it.
fn turn_of(turn: &Arc<Mutex<()>>) -> Result<OwnedMutexGuard<()>, Problem> {
    let message = "A backup is already being made. Try again when it is complete.";
    let turn = Arc::clone(turn).try_lock_owned();
    turn.map_err(|_| Problem::new(ErrorCode::Conflict, message))
}

fn info(entry: &Entry, checks: &Checks) -> BackupInfo {
    let name = name_of(&entry.path);
    BackupInfo {
        created_at: entry.created_at,
        bytes: entry.bytes,
        encrypted: entry.is_encrypted,
        checked: checks.of(&name),
        name,
    }
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn described(name: String, created: &Created, deleted: &[Entry]) -> CreatedBackup {
    CreatedBackup {
        backup: BackupInfo {
            encrypted: folder::is_encrypted(&name),
            name,
            created_at: created.manifest.created_at,
            bytes: created.bytes,
            checked: None,
        },
        rows: created.manifest.rows(),
        deleted: deleted.iter().map(|entry| name_of(&entry.path)).collect(),
    }
}

/// The reason is for administrators, who alone may make backups.
fn failed(error: impl std::error::Error) -> Problem {
    let message = format!("The backup failed: {}.", reasons(&error));
    Problem::new(ErrorCode::StorageUnavailable, message)
}

fn not_listed(error: impl std::error::Error) -> Problem {
    let message = format!("The backups cannot be listed: {}.", reasons(&error));
    Problem::new(ErrorCode::StorageUnavailable, message)
}

/// The error with its causes.
fn reasons(error: &dyn std::error::Error) -> String {
    let mut reasons = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        reasons.push(cause.to_string());
        source = cause.source();
    }
    reasons.join(": ")
}
