//! Backups of this installation: content, location and schedule.

mod drill;
mod list;
mod place;
mod schedule;
mod stored;
mod stream;

pub use drill::{
    CheckResult, CheckedBackup, Checks, DrillError, KEY as DRILL_KEY, Trial, VerifyBackup,
};
pub(crate) use drill::{Drills, check as check_drill};
pub use list::BackupInfo;
use list::{described, name_of};
pub use place::{BackupDirectory, KEY as PLACE_KEY, PlaceError};
pub use schedule::KEY as STATE_KEY;
pub(crate) use schedule::check;
pub use stored::{Stored, database_location, directory, source, stored_settings};
pub use stream::StreamedBackup;

use crate::Services;
use gatehouse_backup::age::Recipient;
use gatehouse_backup::folder::{self, NewFile};
use gatehouse_backup::{BackupError, Source, create};
use gatehouse_config::{ConfigError, InvalidValue, Layers};
use gatehouse_domain::{ErrorCode, Problem, Timestamp};
use gatehouse_store::FileOwner;
use metrics::gauge;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{BufWriter, Write};
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

/// A completed backup.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CreatedBackup {
    #[serde(flatten)]
    pub backup: BackupInfo,
    /// Rows of all tables.
    pub rows: u64,
    /// Names of older backups that were deleted.
    pub deleted: Vec<String>,
}

/// Checks a value of `backup.recipient`, which the crate `config` does not parse.
pub fn check_recipient(text: &str) -> Result<(), InvalidValue> {
    let parsed = Recipient::parse(text).map(drop);
    parsed.map_err(|error| InvalidValue::new(error.to_string()))
}

/// Checks `backup.recipient` in the settings file and the environment. An invalid stored value is only reported by
/// `doctor`, because it must not prevent a start.
pub fn check_written_recipient(layers: &Layers) -> Result<(), ConfigError> {
    let written = layers.written()?;
    match written.settings.backup.recipient.as_deref() {
        Some(text) => {
            check_recipient(text).map_err(|reason| layers.error_at("backup.recipient", &reason))
        }
        None => Ok(()),
    }
}

/// The input of a backup, and the right to create it.
struct Begun {
    turn: OwnedMutexGuard<()>,
    recipient: Option<Recipient>,
    source: Source,
}

impl Services {
    /// Creates a backup in the directory for backups, then deletes all but the newest `keep` backups. By default,
    /// uses the recipient of the settings, if any. Only one backup is created at a time.
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

    /// Waits until no backup is being created in the directory for backups. Prevents new ones until the returned
    /// value is dropped. Tests use it to simulate another running backup.
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
}

/// The beginning of the message about a failed backup.
pub(crate) const FAILED: &str = "The backup failed: ";

/// Reserves a turn to create a backup. Fails while another backup has it.
fn turn_of(turn: &Arc<Mutex<()>>) -> Result<OwnedMutexGuard<()>, Problem> {
    let message = "A backup is already being made. Try again when it is complete.";
    let turn = Arc::clone(turn).try_lock_owned();
    turn.map_err(|_| Problem::new(ErrorCode::Conflict, message))
}

/// Converts an error to a problem. The problem contains the reason, because only administrators may create backups.
fn failed(error: impl std::error::Error) -> Problem {
    let message = format!("{FAILED}{}.", reasons(&error));
    Problem::new(ErrorCode::StorageUnavailable, message)
}

/// Returns the error with its causes.
fn reasons(error: &dyn std::error::Error) -> String {
    let mut reasons = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        reasons.push(cause.to_string());
        source = cause.source();
    }
    reasons.join(": ")
}
