//! The destination of `backup create`.

use super::super::usage;
use anyhow::{Context, Result};
use gatehouse_backup::folder::NewFile;
use gatehouse_store::FileOwner;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// The warning about a backup that anyone can read.
pub(super) const UNENCRYPTED: &str =
    "The backup is not encrypted: anyone who can read it can read what the database contains.";

/// The destination of a backup.
pub(super) enum Target {
    Stdout,
    File(PathBuf),
    Directory(PathBuf),
}

impl Target {
    /// Returns the destination for the value of `--to`.
    pub(super) fn of(to: PathBuf) -> Self {
        if to == Path::new("-") {
            Self::Stdout
        } else if to.is_dir() || to.to_string_lossy().ends_with('/') {
            Self::Directory(to)
        } else {
            Self::File(to)
        }
    }
}

/// Fails if standard output is a terminal.
pub(super) fn refuse_terminal() -> Result<()> {
    usage::ensure(
        !io::stdout().is_terminal(),
        "standard output is a terminal: redirect it to a file or a program",
    )
}

/// Creates a temporary file next to its final name, for this owner.
pub(super) fn new_file(
    owner: FileOwner,
    path: &Path,
    create: fn(&Path) -> io::Result<NewFile>,
) -> Result<NewFile> {
    let created = NewFile::create_for(owner, path, create);
    created.with_context(|| format!("cannot create {}", path.display()))
}
