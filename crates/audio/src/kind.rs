//! Audio kinds: container and codec combined, as detailed as callers need.

use crate::Format;

/// A kind of audio input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// MPEG audio Layer III, with or without an ID3 tag.
    Mp3,
    /// AAC in ADTS.
    Aac,
    /// MPEG-4 with AAC: `.m4a`, `.mp4`.
    M4a,
    /// RIFF WAVE.
    Wav,
    /// `WebM` or Matroska with Opus or Vorbis, as browsers record it.
    Webm,
    OggOpus,
    /// Ogg with Vorbis or FLAC.
    Ogg,
    /// Native FLAC.
    Flac,
    /// Raw signed 16-bit little-endian mono samples.
    Pcm {
        /// Samples per second.
        rate: u32,
    },
}

impl Kind {
    /// Every kind. [`Self::Pcm`] is listed at the rate of [`Format::Pcm`](crate::Format::Pcm).
    pub const ALL: [Self; 9] = [
        Self::Mp3,
        Self::OggOpus,
        Self::Ogg,
        Self::Aac,
        Self::Pcm {
            rate: Format::PCM_RATE,
        },
        Self::Wav,
        Self::Webm,
        Self::Flac,
        Self::M4a,
    ];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Returns the name, which is also the file extension.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mp3 => "mp3",
            Self::Aac => "aac",
            Self::M4a => "m4a",
            Self::Wav => "wav",
            Self::Webm => "webm",
            Self::OggOpus => "opus",
            Self::Ogg => "ogg",
            Self::Flac => "flac",
            Self::Pcm { .. } => "pcm",
        }
    }

    pub const fn mime_type(self) -> &'static str {
        match self {
            Self::Mp3 => "audio/mpeg",
            Self::Aac => "audio/aac",
            Self::M4a => "audio/mp4",
            Self::Wav => "audio/wav",
            Self::Webm => "audio/webm",
            Self::OggOpus | Self::Ogg => "audio/ogg",
            Self::Flac => "audio/flac",
            Self::Pcm { .. } => "audio/pcm",
        }
    }
}
