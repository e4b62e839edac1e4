//! Directories that programs work in: only ours to read, and gone with the last who uses them.

use crate::VoiceError;
use bytes::Bytes;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;

/// A fresh directory (0700) with one file in it (0600).
///
/// # Errors
/// When it cannot be made: the disk is full, say.
pub(crate) async fn workspace(
    name: &'static str,
    content: &Bytes,
) -> Result<Arc<TempDir>, VoiceError> {
    let fresh = || {
        tempfile::Builder::new()
            .prefix("gatehouse-voice-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir()
    };
    let made = tokio::task::spawn_blocking(fresh).await;
    let directory = made.map_err(|_panic| VoiceError::Internal("a directory was not made"))??;
    let mut options = tokio::fs::OpenOptions::new();
    let options = options.write(true).create_new(true).mode(0o600);
    let mut file = options.open(directory.path().join(name)).await?;
    file.write_all(content).await?;
    file.flush().await?;
    Ok(Arc::new(directory))
}

/// The same place, named so that it is the same from every directory.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_error| path.to_owned())
}
