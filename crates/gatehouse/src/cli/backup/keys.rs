//! Reads the keys of backups from files and the terminal.

use crate::cli::prompt;
use anyhow::{Context, Result};
use gatehouse_backup::age::{Identity, Recipient};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The key that decrypts a backup.
#[derive(Debug, clap::Args)]
pub struct KeyArgs {
    /// File whose first line is the passphrase
    #[arg(long, value_name = "FILE", conflicts_with = "identity")]
    pub(super) passphrase_file: Option<PathBuf>,
    /// File with an age identity, AGE-SECRET-KEY-1…
    #[arg(long, value_name = "FILE")]
    pub(super) identity: Option<PathBuf>,
}

impl KeyArgs {
    pub(super) fn identity(&self) -> Result<Option<Identity>> {
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
pub(super) fn recipient(
    text: Option<&str>,
    passphrase_file: Option<&Path>,
) -> Result<Option<Recipient>> {
    if let Some(text) = text {
        return Ok(Some(Recipient::parse(text)?));
    }
    let Some(path) = passphrase_file else {
        return Ok(None);
    };
    let passphrase = prompt::password("Passphrase", Some(path))?;
    Ok(Some(Recipient::Passphrase(passphrase)))
}
