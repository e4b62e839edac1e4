//! The files that a restore has written. They are removed if the restore fails.

use super::{BESIDE, beside, settings_beside};
use anyhow::{Context, Result, ensure};
use gatehouse_backup::{RestoredFile, folder::NewFile};
use gatehouse_config::Layers;
use gatehouse_secrets::PROVIDER_FILES;
use gatehouse_services::backup::SETTINGS_FILE;
use gatehouse_sources::profile_file::PROFILES_DIRECTORY;
use gatehouse_store::FileOwner;
use std::io::Write;
use std::path::PathBuf;

/// Returns the place of a file. The settings file gets another name if there already is one, or if it names a database,
/// because the server must not start on the old database.
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

/// The written files. Dropping this value deletes them, so a failed restore can be repeated.
pub(super) struct Written {
    pub(super) owner: FileOwner,
    pub(super) paths: Vec<PathBuf>,
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

    /// Writes the files of a backup. Returns the settings file and the profiles that did not get their original names.
    pub(super) async fn write_all(
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

    pub(super) fn keep(&mut self) {
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
