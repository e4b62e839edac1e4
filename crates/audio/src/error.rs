//! What can go wrong with a sound.

/// Bytes could not be read as a sound, or a sound not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AudioError {
    /// Not audio, or not of the kind that it should be, or broken.
    #[error("the audio cannot be read")]
    Unreadable,
    /// It lasts longer than the caller takes.
    #[error("the audio lasts longer than {max_seconds} seconds")]
    TooLong {
        /// The most that is taken.
        max_seconds: u32,
    },
    /// No samples are in it.
    #[error("the audio is empty")]
    Empty,
    /// This build cannot write the format, or it is not written in process.
    #[error("{0} cannot be written here")]
    NoEncoder(&'static str),
    /// An encoder refused what it was given: a fault of ours.
    #[error("the audio could not be encoded")]
    Encoder,
}
