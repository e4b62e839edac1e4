//! The API key that `auth create-key` stores for later commands. It is in the data directory, or next to the
//! configuration file if the data directory is not writable. Only its owner can read it.

use anyhow::{Context, Result};
use gatehouse::data_dir;
use gatehouse_config::Layers;
use gatehouse_store::FileOwner;
use secrecy::{ExposeSecret, SecretString};
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

const NAME: &str = "cli.key";
/// The maximum size of the file, in bytes. A key has 46 characters.
const MAX_BYTES: u64 = 1024;

fn places(layers: &Layers) -> Vec<PathBuf> {
    let mut places = vec![layers.data_dir().join(NAME)];
    if let Some(folder) = layers
        .config_path()
        .parent()
        .filter(|path| *path != layers.data_dir())
    {
        places.push(folder.join(NAME));
    }
    places
}

/// Returns the stored key, if there is a readable one.
pub fn find(layers: &Layers) -> Option<SecretString> {
    places(layers).iter().find_map(|path| read(path))
}

fn read(path: &Path) -> Option<SecretString> {
    let file = std::fs::File::open(path).ok()?;
    let mode = file.metadata().ok()?.permissions().mode();
    if data_dir::is_open_to_others(mode) {
        super::output::warn(format!(
            "other users can read {}: run chmod 600 on it",
            path.display()
        ));
    }
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    let key = text.trim();
    (!key.is_empty()).then(|| SecretString::from(key))
}

/// Stores the key, replacing an existing one. Returns the path.
pub fn store(layers: &Layers, key: &SecretString) -> Result<PathBuf> {
    let mut failed = None;
    for path in places(layers) {
        match write(&path, key, layers.data_dir()) {
            Ok(()) => return Ok(path),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    Err(failed.unwrap_or_else(|| anyhow::anyhow!("there is no directory for it")))
        .context("the key could not be stored")
}

fn write(path: &Path, key: &SecretString, data_dir: &Path) -> Result<()> {
    if path.parent() == Some(data_dir) {
        data_dir::prepare(data_dir)?;
    }
    // A new file is written and renamed. Other users may be able to read the old file, and after a crash there is still
    // a complete file.
    let fresh = path.with_extension("key.new");
    drop(std::fs::remove_file(&fresh));
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&fresh)?;
    FileOwner::of(data_dir).give(&file, &fresh);
    file.write_all(key.expose_secret().as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    std::fs::rename(&fresh, path)?;
    Ok(())
}
