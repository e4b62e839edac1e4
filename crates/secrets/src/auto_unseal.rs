//! Unseals at start, with a recovery key from a file or a value.

use crate::{Secrets, VaultError};
use gatehouse_domain::Actor;
use gatehouse_vault::Status;
use secrecy::{ExposeSecret, SecretString};
use std::path::Path;
use zeroize::Zeroizing;

/// The maximum file size. A recovery key has 39 characters, so a longer file is not one.
const MAX_FILE_BYTES: u64 = 4096;

impl Secrets {
    /// Tries the key in the file, then the value. Returns whether the vault is unsealed. If neither key opens the
    /// vault, logs a warning, and the service starts sealed.
    pub async fn auto_unseal(&self, file: Option<&Path>, value: Option<&SecretString>) -> bool {
        if file.is_none() && value.is_none() {
            return false;
        }
        match self.status() {
            Status::Sealed => {}
            Status::Unsealed => return true,
            status @ (Status::Uninitialized | Status::Disabled) => {
                tracing::info!(%status, "an auto-unseal key is configured, but there is no \
                                         sealed vault");
                return false;
            }
        }
        if let Some(path) = file
            && let Some(key) = read_key(path).await
            && self.auto_unseal_with("file", &key).await
        {
            return true;
        }
        match value {
            Some(key) => self.auto_unseal_with("environment", key).await,
            None => false,
        }
    }

    async fn auto_unseal_with(&self, source: &'static str, key: &SecretString) -> bool {
        let actor = Actor::system();
        let unsealed = self.unseal_with_recovery_key(&actor, key.expose_secret());
        match unsealed.await {
            Ok(status) => {
                tracing::info!(source, "the vault was unsealed with the auto-unseal key");
                status == Status::Unsealed
            }
            Err(VaultError::BadKey) => {
                tracing::warn!(
                    source,
                    "the auto-unseal key does not unlock the vault; the vault stays sealed until \
                     it is unlocked. A key rotation or a new recovery key invalidates the old \
                     key"
                );
                false
            }
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(source, error, "the vault could not be unsealed at start");
                false
            }
        }
    }
}

/// Reads the file. Logs a warning and returns `None` on failure.
async fn read_key(path: &Path) -> Option<SecretString> {
    match try_read_key(path).await {
        Ok(key) => Some(key),
        Err(error) => {
            tracing::warn!(%error, "the auto-unseal key file cannot be read");
            None
        }
    }
}

async fn try_read_key(path: &Path) -> std::io::Result<SecretString> {
    let metadata = tokio::fs::metadata(path).await?;
    if metadata.len() > MAX_FILE_BYTES {
        return Err(std::io::Error::other(
            "the file is too long to be a recovery key",
        ));
    }
    if is_open_to_others(&metadata) {
        tracing::warn!(
            "other users of this machine can read the auto-unseal key file; set its mode to 0600"
        );
    }
    let text = Zeroizing::new(tokio::fs::read(path).await?);
    let text = str::from_utf8(&text).map_err(std::io::Error::other)?;
    Ok(SecretString::from(text.trim()))
}

#[cfg(unix)]
fn is_open_to_others(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
const fn is_open_to_others(_: &std::fs::Metadata) -> bool {
    false
}
