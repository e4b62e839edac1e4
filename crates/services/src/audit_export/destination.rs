//! The destinations of copies.

use gatehouse_config::{Audit, RemoteSyslog, Syslog};
use std::path::{Path, PathBuf};

/// A kind of copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    File,
    Syslog,
}

impl Target {
    pub(super) const ALL: [Self; 2] = [Self::File, Self::Syslog];

    /// Returns the setting that turns on the copy.
    pub(super) const fn setting(self) -> &'static str {
        match self {
            Self::File => "audit.file",
            Self::Syslog => "audit.syslog",
        }
    }

    /// Returns the maximum number of rows per round. If a service sends more than 10,000 messages in 30 seconds,
    /// journald drops the excess.
    pub(super) const fn batch(self) -> i64 {
        match self {
            Self::File => 500,
            Self::Syslog => 100,
        }
    }
}

/// The destination of a copy.
#[derive(Clone, Debug)]
pub(super) enum Destination {
    File(PathBuf),
    /// A socket of this machine.
    Socket(PathBuf),
    Remote(RemoteSyslog),
}

impl Destination {
    /// Returns the destination of each copy that is turned on.
    pub(super) fn all(settings: &Audit, data_dir: &Path) -> [(Target, Option<Self>); 2] {
        let file = settings.file.as_ref();
        let syslog = settings.syslog.as_ref().map(|syslog| match syslog {
            Syslog::Socket(path) => Self::Socket(data_dir.join(path)),
            Syslog::Remote(remote) => Self::Remote(remote.clone()),
        });
        [
            (
                Target::File,
                file.map(|path| Self::File(data_dir.join(path))),
            ),
            (Target::Syslog, syslog),
        ]
    }
}
