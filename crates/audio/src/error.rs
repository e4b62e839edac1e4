//! Errors of this crate.

/// The bytes could not be decoded, or the samples could not be encoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AudioError {
    /// Not audio, not of the expected kind, or corrupt.
    #[error("the audio cannot be read")]
    Unreadable,
    /// Longer than the caller accepts.
    #[error("the audio lasts longer than {max_seconds} seconds")]
    TooLong {
        /// The caller's limit.
        max_seconds: u32,
    },
    /// The audio has no samples.
    #[error("the audio is empty")]
    Empty,
    /// This build has no encoder for the format.
    #[error("this build cannot encode {0}")]
    NoEncoder(&'static str),
    /// An encoder rejected its input, which is a bug in this crate.
    #[error("the audio could not be encoded")]
    Encoder,
}
