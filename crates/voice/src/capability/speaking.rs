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
                "its request has none: of a persona, voice and numbers arrive",
            ),
            (Lack::Pitch, "its request has none"),
            (Lack::SpokenLanguage, "its models hear it from the text"),
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
            (Lack::Stability, "its request has none"),
            (Lack::Pitch, "its request has none"),
            (Lack::SpokenLanguage, "its models hear it from the text"),
            (
                Lack::SpeedLimit,
                "it takes every speed that a request may have",
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
            (Lack::Model, "a voice's name says the model, too"),
            (Lack::Stability, "its request has none"),
            (
                Lack::Instructions,
                "its request has none: of a persona, voice, rate and pitch arrive",
            ),
            (
                Lack::Streaming,
                "its answer is one JSON document, sent when the whole is made",
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
            (
                Lack::Voice,
                "its model is one voice, or has speakers by number",
            ),
            NO_MODEL_NAME,
            (Lack::Stability, "it has no such option"),
            (Lack::Pitch, "it has no such option"),
            (Lack::Instructions, "it has no such option"),
            (Lack::SpokenLanguage, "its model speaks one language"),
            (
                Lack::SpeedLimit,
                "it takes every speed that a request may have",
            ),
            (
                Lack::Container,
                "bare samples have no header: any bytes are sound",
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
            (Lack::Speed, "its request has none"),
            (Lack::SpeedLimit, "its request has no speed"),
            (Lack::Stability, "its request has none"),
            (Lack::Pitch, "its request has none"),
            (Lack::Instructions, "its request has none"),
            (Lack::SpokenLanguage, "the settings have none for it"),
            (Lack::Streaming, "it answers when the whole is made"),
            (
                Lack::Key,
                "a server of one's own has none, and refuses a request that has one",
            ),
            HOSTED,
        ],
    }
}
