//! The content of a backup: the database, files and settings.

use super::{
    DIRECTORY, SETTINGS_FILE,
    drill::{Checks, KEY as DRILL_KEY},
    place::{BackupDirectory, KEY as PLACE_KEY},
};
use gatehouse_backup::{BackupError, Source};
use gatehouse_config::{BackupSettings, DatabaseUrl, Layers};
use gatehouse_domain::Timestamp;
use gatehouse_secrets::PROVIDER_FILES;
use gatehouse_sources::profile_file::PROFILES_DIRECTORY;
use gatehouse_store::{Cell, Location, OpenError, Snapshot};
use secrecy::ExposeSecret;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Returns the location of the database that the setting `database.url` names.
pub fn database_location(url: &DatabaseUrl, data_dir: &Path) -> Result<Location, OpenError> {
    match url {
        DatabaseUrl::Postgres { url } => Location::from_url(url.expose_secret()),
        DatabaseUrl::Sqlite { path } => Ok(Location::sqlite_file(&data_dir.join(path))),
    }
}

/// Returns the files of a backup with their paths: the provider keys and the settings file. Sender profiles are
/// added from their directory. Certificates, keys for automatic unsealing and caches are not included.
fn files(layers: &Layers) -> Vec<(String, PathBuf)> {
    let keys = PROVIDER_FILES
        .iter()
        .map(|name| ((*name).to_owned(), layers.data_dir().join(name)));
    let settings = (SETTINGS_FILE.to_owned(), layers.config_path().to_path_buf());
    keys.chain([settings]).collect()
}

/// Returns the input of a backup of this installation.
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

/// Returns the directory for backups.
pub fn directory(layers: &Layers, settings: &BackupSettings) -> PathBuf {
    let name = settings.to.as_deref().unwrap_or(Path::new(DIRECTORY));
    layers.data_dir().join(name)
}

/// The data about backups in the database.
#[derive(Debug)]
pub struct Stored {
    /// The settings for backups, including run-time changes.
    pub settings: BackupSettings,
    /// The results of checks of backups.
    pub checks: Checks,
    /// The stored value of [`PLACE_KEY`].
    place: Option<Value>,
}

impl Stored {
    /// Returns the directory for backups.
    pub fn place(self, layers: &Layers) -> BackupDirectory {
        BackupDirectory::new(directory(layers, &self.settings), layers, self.place)
    }
}

/// Reads the data about backups from the database. Does not migrate the database.
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
