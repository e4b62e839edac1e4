//! The agent's socket. Only its owner can access it and its directory.

use anyhow::{Context, Result, bail, ensure};
use rustix::process::geteuid;
use std::fs::{DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::Interest;
use tokio::net::{UnixListener, UnixStream};

/// How often a connection is checked.
const EVERY: Duration = Duration::from_millis(200);

/// A socket that is removed when dropped.
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Drop for Socket {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.path));
    }
}

impl Socket {
    /// Listens at the path. Creates the directory if it is missing. Only its owner may have access to it.
    pub fn bind(path: &Path) -> Result<Self> {
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut builder = DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(folder);
        made.with_context(|| format!("cannot create the directory {}", folder.display()))?;
        let metadata = folder.metadata()?;
        ensure!(
            metadata.uid() == geteuid().as_raw() && metadata.mode() & 0o777 == 0o700,
            "the directory {} must belong to you and have mode 0700: run chmod 700 on it",
            folder.display()
        );
        remove_stale(path)?;
        let listener = UnixListener::bind(path)
            .with_context(|| format!("cannot listen at {}", path.display()))?;
        std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
        Ok(Self {
            listener,
            path: path.to_owned(),
        })
    }

    /// Accepts a connection. Returns `None` if the peer is a different user. Root is allowed.
    pub async fn accept(&self) -> Result<Option<UnixStream>> {
        let (stream, _) = self.listener.accept().await?;
        let own = geteuid().as_raw();
        let peer = stream
            .peer_cred()
            .is_ok_and(|peer| [own, 0].contains(&peer.uid()));
        Ok(peer.then_some(stream))
    }
}

fn remove_stale(path: &Path) -> Result<()> {
    let Ok(metadata) = path.symlink_metadata() else {
        return Ok(());
    };
    let is_socket = metadata.file_type().is_socket();
    if !is_socket || std::os::unix::net::UnixStream::connect(path).is_ok() {
        bail!("{} is in use", path.display());
    }
    Ok(std::fs::remove_file(path)?)
}

/// Waits until the program has closed its connection. Data that it sends in the meantime stays
/// unread.
pub async fn closed(stream: &UnixStream) {
    // A program that has closed only its writing side can still read an answer.
    while let Ok(state) = stream.ready(Interest::READABLE | Interest::WRITABLE).await
        && !state.is_write_closed()
    {
        tokio::time::sleep(EVERY).await;
    }
}

/// Returns the name and process ID of the connected program, as far as the system reports them.
pub async fn program_of(stream: &UnixStream) -> String {
    let Some(id) = stream.peer_cred().ok().and_then(|peer| peer.pid()) else {
        return "a program".to_owned();
    };
    let name = tokio::fs::read_to_string(format!("/proc/{id}/comm")).await;
    let name = name.unwrap_or_else(|_| "a program".to_owned());
    format!("{} (process {id})", name.trim_end())
}
