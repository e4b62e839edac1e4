//! Failures of reading or writing the files.

use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_vault::CryptoError;
use std::io;

/// A file of provider keys could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("a file of provider keys cannot be read or written")]
    Io(#[from] io::Error),
    /// The content is not valid.
    #[error("{0} is damaged")]
    Damaged(&'static str),
    /// The copy is encrypted with another key.
    #[error("{0} cannot be decrypted with the vault's key")]
    Undecryptable(&'static str),
    #[error(transparent)]
    Crypto(#[from] CryptoError),
    /// The task ended before it finished.
    #[error("the file operation did not complete")]
    TaskAborted,
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Io(_) => Self::new(
                ErrorCode::StorageUnavailable,
                "The data directory is currently unavailable. Nothing was changed.",
            ),
            _ => Self::internal(),
        }
    }
}
