//! The formats that speech is given out in.

use crate::Kind;

/// A format of speech, as callers name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// MPEG-1 or -2 Layer III.
    Mp3,
    /// Ogg Opus, 48 kHz (RFC 7845).
    Opus,
    /// The same as `opus`.
    Ogg,
    /// AAC in ADTS.
    Aac,
    /// Signed 16-bit little-endian samples, mono, 24,000 Hz, without a header.
    Pcm,
    /// RIFF WAVE with 16-bit samples.
    Wav,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 6] = [
        Self::Mp3,
        Self::Opus,
        Self::Ogg,
        Self::Aac,
        Self::Pcm,
        Self::Wav,
    ];
    /// Samples a second of [`Self::Pcm`].
    pub const PCM_RATE: u32 = 24_000;

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mp3 => "mp3",
            Self::Opus => "opus",
            Self::Ogg => "ogg",
            Self::Aac => "aac",
            Self::Pcm => "pcm",
            Self::Wav => "wav",
        }
    }

    /// The format of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// Its media type.
    pub const fn mime_type(self) -> &'static str {
        match self {
            Self::Mp3 => "audio/mpeg",
            Self::Opus | Self::Ogg => "audio/ogg",
            Self::Aac => "audio/aac",
            Self::Pcm => "audio/pcm",
            Self::Wav => "audio/wav",
        }
    }

    /// What its bytes are.
    pub const fn kind(self) -> Kind {
        match self {
            Self::Mp3 => Kind::Mp3,
            Self::Opus | Self::Ogg => Kind::OggOpus,
            Self::Aac => Kind::Aac,
            Self::Pcm => Kind::Pcm {
                rate: Self::PCM_RATE,
            },
            Self::Wav => Kind::Wav,
        }
    }
}
