//! Private work directories of programs, deleted with their last user. Also opens files written by others.

use crate::VoiceError;
use bytes::Bytes;
use gatehouse_store::FileOwner;
use rustix::fs::OFlags;
use std::fs::Permissions;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::fs::File;
use tokio::io::AsyncWriteExt;

/// Creates a new directory (0700) in `parent` with one file (0600).
///
/// # Errors
/// Fails if the directory or file cannot be created, for example because the disk is full.
pub(super) async fn make(
    parent: &Arc<Path>,
    name: &'static str,
    content: &Bytes,
) -> Result<Arc<TempDir>, VoiceError> {
    let directory = make_directory(parent).await?;
    let mut options = tokio::fs::OpenOptions::new();
    let options = options.write(true).create_new(true).mode(0o600);
    let mut file = options.open(directory.path().join(name)).await?;
    file.write_all(content).await?;
    file.flush().await?;
    Ok(directory)
}

/// Like [`make`], without a file.
pub(super) async fn make_directory(parent: &Arc<Path>) -> Result<Arc<TempDir>, VoiceError> {
    let parent = Arc::clone(parent);
    let fresh = move || {
        let owner = FileOwner::of_parent(&parent);
        owner.create_directory(&parent)?;
        tempfile::Builder::new()
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(&parent)
    };
    let made = tokio::task::spawn_blocking(fresh).await;
    let directory =
        made.map_err(|_panic| VoiceError::Internal("a directory could not be created"))??;
    Ok(Arc::new(directory))
}

/// Deletes the files of a killed server, which include unencrypted recordings. Blocking. The directory must not be in
/// use. A data directory has only one server.
pub(crate) fn empty(parent: &Path) {
    match std::fs::remove_dir_all(parent) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            tracing::warn!(%error, "work files of voice programs could not be removed");
        }
        _ => {}
    }
}

/// Opens a regular file for reading. Rejects anything else, and does not block on a FIFO without a writer.
pub(crate) async fn open_file(path: &Path) -> io::Result<File> {
    open(path, OFlags::NONBLOCK).await
}

/// Like [`open_file`], for a file that a program has written. Rejects symbolic links.
pub(crate) async fn open_own_file(path: &Path) -> io::Result<File> {
    open(path, OFlags::NONBLOCK | OFlags::NOFOLLOW).await
}

async fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let about = if flags.contains(OFlags::NOFOLLOW) {
        tokio::fs::symlink_metadata(path).await?
    } else {
        tokio::fs::metadata(path).await?
    };
    let no_file = || io::Error::from(ErrorKind::InvalidInput);
    // Opening a device may have side effects.
    if !about.is_file() {
        return Err(no_file());
    }
    let mut options = tokio::fs::OpenOptions::new();
    let options = options.read(true).custom_flags(flags.bits().cast_signed());
    let file = options.open(path).await?;
    // The file may have been replaced in the meantime.
    if file.metadata().await?.is_file() {
        Ok(file)
    } else {
        Err(no_file())
    }
}

/// Makes a path independent of the working directory.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_error| path.to_owned())
}
