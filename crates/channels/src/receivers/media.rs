//! Voice messages and pictures that a channel type can send.

/// The format of a channel type's voice messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VoiceFormat {
    /// The name of the audio format.
    pub(crate) name: &'static str,
    /// The name and the media type of the file.
    pub(crate) file: (&'static str, &'static str),
    pub(crate) max_bytes: usize,
}

impl VoiceFormat {
    /// Returns the format Opus in Ogg, in which vendors' programs record.
    pub(crate) const fn opus(max_bytes: usize) -> Self {
        Self {
            name: "opus",
            file: ("answer.ogg", "audio/ogg"),
            max_bytes,
        }
    }
}

/// The maximum size of a voice message or picture in bytes, if the vendor has no lower limit. This is Telegram's
/// limit.
pub(crate) const MAX_MEDIA: usize = 50_000_000;
