//! The capabilities of text-to-speech providers. The providers' own files name the sources.

use super::{HOSTED, Lack, NO_HTTP, NO_KEY, NO_MODEL_NAME, TtsCapability};
use crate::provider::TtsId;
use gatehouse_audio::Format;

impl TtsId {
    /// The provider's capabilities.
    pub const fn capability(self) -> TtsCapability {
        match self {
            Self::ElevenLabs => elevenlabs(),
            Self::OpenAi => openai(),
            Self::Google => google(),
            Self::Piper => piper(),
            Self::Coqui => coqui(),
        }
    }
}

const fn elevenlabs() -> TtsCapability {
    TtsCapability {
        native: &[Format::Mp3, Format::Opus, Format::Ogg, Format::Pcm],
        max_characters: 5000,
        max_bytes: usize::MAX,
        speed: Some(0.7..=1.2),
        lacks: &[
            (
                Lack::Instructions,
                "its request has none; it receives only the voice and numbers of a persona",
            ),
            (Lack::Pitch, "its request has no field for it"),
            (Lack::SpokenLanguage, "its models detect it from the text"),
            HOSTED,
        ],
    }
}

const fn openai() -> TtsCapability {
    TtsCapability {
        native: &[
            Format::Mp3,
            Format::Opus,
            Format::Ogg,
            Format::Aac,
            Format::Pcm,
            Format::Wav,
        ],
        max_characters: 4096,
        max_bytes: usize::MAX,
        speed: Some(0.25..=4.0),
        lacks: &[
            (Lack::Stability, "its request has no field for it"),
            (Lack::Pitch, "its request has no field for it"),
            (Lack::SpokenLanguage, "its models detect it from the text"),
            (
                Lack::SpeedLimit,
                "it accepts every speed that a request may have",
            ),
            HOSTED,
        ],
    }
}

const fn google() -> TtsCapability {
    TtsCapability {
        native: &[Format::Mp3, Format::Opus, Format::Ogg, Format::Wav],
        max_characters: usize::MAX,
        max_bytes: 5000,
        speed: Some(0.25..=2.0),
        lacks: &[
            (Lack::Model, "the name of a voice includes the model"),
            (Lack::Stability, "its request has no field for it"),
            (
                Lack::Instructions,
                "its request has none; it receives only the voice, rate and pitch of a persona",
            ),
            (
                Lack::Streaming,
                "its response is one JSON document, sent when all the audio is ready",
            ),
            HOSTED,
        ],
    }
}

const fn piper() -> TtsCapability {
    TtsCapability {
        // It streams raw samples at the rate of its voice.
        native: &[],
        max_characters: 4096,
        max_bytes: usize::MAX,
        speed: Some(0.25..=4.0),
        lacks: &[
            (Lack::Voice, "its model has one voice or numbered speakers"),
            NO_MODEL_NAME,
            (Lack::Stability, "it has no such option"),
            (Lack::Pitch, "it has no such option"),
            (Lack::Instructions, "it has no such option"),
            (Lack::SpokenLanguage, "its model speaks one language"),
            (
                Lack::SpeedLimit,
                "it accepts every speed that a request may have",
            ),
            (
                Lack::Container,
                "raw samples have no header, so any bytes are valid audio",
            ),
            NO_KEY,
            NO_HTTP,
        ],
    }
}

const fn coqui() -> TtsCapability {
    TtsCapability {
        native: &[Format::Wav],
        max_characters: 1000,
        max_bytes: 4000,
        speed: None,
        lacks: &[
            (Lack::Speed, "its request has no field for it"),
            (Lack::SpeedLimit, "its request has no field for the speed"),
            (Lack::Stability, "its request has no field for it"),
            (Lack::Pitch, "its request has no field for it"),
            (Lack::Instructions, "its request has no field for it"),
            (Lack::SpokenLanguage, "there is no setting for it"),
            (Lack::Streaming, "it responds when all the audio is ready"),
            (
                Lack::Key,
                "a self-hosted server has none and refuses a request with one",
            ),
            HOSTED,
        ],
    }
}
