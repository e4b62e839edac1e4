//! What a backup contains, and where the database is.

use gatehouse_backup::Source;
use gatehouse_config::{DatabaseUrl, Layers};
use gatehouse_domain::Timestamp;
use gatehouse_secrets::PROVIDER_FILES;
use gatehouse_store::{Location, OpenError};
use secrecy::ExposeSecret;
use std::path::{Path, PathBuf};

/// The name of the settings file in a backup.
pub const SETTINGS_FILE: &str = "gatehouse.toml";
/// The directory for backups in the data directory.
const DIRECTORY: &str = "backups";

/// The location of the database that the setting `database.url` names.
pub fn database_location(url: &DatabaseUrl, data_dir: &Path) -> Result<Location, OpenError> {
    match url {
        DatabaseUrl::Postgres { url } => Location::from_url(url.expose_secret()),
        DatabaseUrl::Sqlite { path } => Ok(Location::sqlite_file(&data_dir.join(path))),
    }
}

/// The files of a backup with their paths: the provider keys and the settings file. Certificates, keys for
/// automatic unsealing and caches are not part of it.
pub fn files(layers: &Layers) -> Vec<(String, PathBuf)> {
    let keys = PROVIDER_FILES
        .iter()
        .map(|name| ((*name).to_owned(), layers.data_dir().join(name)));
    let settings = (
        SETTINGS_FILE.to_owned(),
        layers.config_path().to_path_buf(),
    );
    keys.chain([settings]).collect()
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
        version: version.to_owned(),
        now,
    })
}

/// The directory for backups, unless another is named.
pub fn default_directory(layers: &Layers) -> PathBuf {
    layers.data_dir().join(DIRECTORY)
}
