//! What was spoken before: files named by the hash of all that makes the audio what it is.

use gatehouse_secrets::Secrets;
use std::path::PathBuf;

/// Spoken texts, kept.
pub(crate) struct Cache {
    _secrets: Secrets,
    _directory: PathBuf,
}

impl Cache {
    pub(crate) fn new(secrets: Secrets, directory: PathBuf) -> Self {
        Self {
            _secrets: secrets,
            _directory: directory,
        }
    }
}
