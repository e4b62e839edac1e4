//! The output formats for speech.

use crate::Kind;

/// An output format for speech, as named in the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// MPEG-1 or MPEG-2 Layer III.
    Mp3,
    /// Ogg Opus at 48 kHz (RFC 7845).
    Opus,
    /// An alias of `opus`.
    Ogg,
    /// AAC in ADTS.
    Aac,
    /// Raw signed 16-bit little-endian samples: mono, 24,000 Hz.
    Pcm,
    /// RIFF WAVE with 16-bit samples.
    Wav,
    /// Native FLAC with 16-bit samples.
    Flac,
}

impl Format {
    pub const ALL: [Self; 7] = [
        Self::Mp3,
        Self::Opus,
        Self::Ogg,
        Self::Aac,
        Self::Pcm,
        Self::Wav,
        Self::Flac,
    ];
    /// Samples per second of [`Self::Pcm`].
    pub const PCM_RATE: u32 = 24_000;

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mp3 => "mp3",
            Self::Opus => "opus",
            Self::Ogg => "ogg",
            Self::Aac => "aac",
            Self::Pcm => "pcm",
            Self::Wav => "wav",
            Self::Flac => "flac",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }

    pub const fn mime_type(self) -> &'static str {
        match self {
            Self::Mp3 => "audio/mpeg",
            Self::Opus | Self::Ogg => "audio/ogg",
            Self::Aac => "audio/aac",
            Self::Pcm => "audio/pcm",
            Self::Wav => "audio/wav",
            Self::Flac => "audio/flac",
        }
    }

    /// Returns the container and codec that this format produces.
    pub const fn kind(self) -> Kind {
        match self {
            Self::Mp3 => Kind::Mp3,
            Self::Opus | Self::Ogg => Kind::OggOpus,
            Self::Aac => Kind::Aac,
            Self::Pcm => Kind::Pcm {
                rate: Self::PCM_RATE,
            },
            Self::Wav => Kind::Wav,
            Self::Flac => Kind::Flac,
        }
    }
}
