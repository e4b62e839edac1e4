//! Errors of backups.

use crate::age::AgeError;
use gatehouse_store::{ImportError, OpenError, StoreError};
use std::io;

/// Why a backup could not be created, read or restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("the database cannot be read")]
    Open(#[from] OpenError),
    #[error("the database cannot be read")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error(transparent)]
    Age(#[from] AgeError),
    #[error("the backup cannot be read or written")]
    Io(#[from] io::Error),
    #[error("the backup is encrypted: set --identity, or --passphrase-file")]
    NeedsKey,
    #[error("this file is not a backup of Gatehouse")]
    NotABackup,
    /// A newer version of Gatehouse created the backup.
    #[error("the backup has format {found}; this version of Gatehouse reads format {known}")]
    Format { found: u32, known: u32 },
    /// The file ends before its last line.
    #[error("the backup is incomplete")]
    Incomplete,
    #[error("the backup is damaged: {0}")]
    Damaged(String),
}

impl BackupError {
    /// Converts an error of reading. An error of the decompression or decryption in the middle of the archive means
    /// damage.
    pub(crate) fn of_reading(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Incomplete,
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                Self::Damaged(error.to_string())
            }
            _ => Self::Io(error),
        }
    }
}
