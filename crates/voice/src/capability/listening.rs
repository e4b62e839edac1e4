//! The capabilities of speech-to-text providers. The providers' own files name the sources.

use super::{HOSTED, Lack, NO_HTTP, NO_KEY, NO_MODEL_NAME, SttCapability};
use crate::provider::SttId;
use gatehouse_audio::Kind;

const MIB: usize = 1 << 20;
/// More than two hours of 16 kHz samples, the longest audio that is decoded.
const SAMPLES: usize = 256 * MIB;
/// For programs.
const MUST_BE_READ: (Lack, &str) = (
    Lack::UnrecognisedAudio,
    "it accepts only WAV, and only recognized audio can be converted to WAV",
);

/// The kinds that `OpenAI`'s transcription and compatible APIs accept.
const fn usual(kind: Kind) -> bool {
    !matches!(kind, Kind::Aac | Kind::Pcm { .. })
}

/// Mistral does not list MPEG-4.
const fn without_m4a(kind: Kind) -> bool {
    usual(kind) && !matches!(kind, Kind::M4a)
}

/// Deepgram accepts any audio with a header.
const fn with_header(kind: Kind) -> bool {
    !matches!(kind, Kind::Pcm { .. })
}

/// Google and the programs receive only 16-bit mono WAV, converted here.
const fn none(_: Kind) -> bool {
    false
}

impl SttId {
    /// The provider's capabilities.
    pub const fn capability(self) -> SttCapability {
        match self {
            Self::OpenAi | Self::Groq => SttCapability {
                accepts: usual,
                max_bytes: 25 * MIB,
                lacks: &[HOSTED],
            },
            Self::Deepgram => SttCapability {
                accepts: with_header,
                max_bytes: 2_000_000_000,
                lacks: &[HOSTED],
            },
            // A request takes one minute; longer audio is split into several requests. This limit is about an
            // hour.
            Self::Google => SttCapability {
                accepts: none,
                max_bytes: 128 * MIB,
                lacks: &[
                    (
                        Lack::UsualModel,
                        "it selects the model itself if the request names none",
                    ),
                    HOSTED,
                ],
            },
            Self::Mistral => mistral(),
            Self::Voxtral => voxtral(),
            Self::WhisperCli => whisper_cli(),
            Self::SherpaOnnx => sherpa_onnx(),
        }
    }
}

const fn mistral() -> SttCapability {
    SttCapability {
        accepts: without_m4a,
        max_bytes: 500_000_000,
        lacks: &[
            (
                Lack::WordTimes,
                "its response has timestamps of segments only",
            ),
            (Lack::Confidence, "its response does not contain it"),
            HOSTED,
        ],
    }
}

const fn voxtral() -> SttCapability {
    SttCapability {
        accepts: usual,
        max_bytes: 25 * MIB,
        lacks: &[
            (Lack::WordTimes, "vLLM returns only text for it"),
            (Lack::SegmentTimes, "vLLM returns only text for it"),
            (Lack::Confidence, "vLLM returns only text for it"),
            (Lack::HeardLanguage, "vLLM returns only text for it"),
            (
                Lack::Hint,
                "its instruction is built from audio and language only",
            ),
            (
                Lack::UnrecognisedAudio,
                "unrecognized audio is not sent to a self-hosted server",
            ),
            (
                Lack::Key,
                "a self-hosted server has none and refuses a request with one",
            ),
            HOSTED,
        ],
    }
}

const fn whisper_cli() -> SttCapability {
    SttCapability {
        accepts: none,
        max_bytes: SAMPLES,
        lacks: &[
            (
                Lack::Confidence,
                "it reports probabilities of tokens, not of the whole text",
            ),
            NO_MODEL_NAME,
            (
                Lack::UsualModel,
                "its model is a file named in the settings",
            ),
            MUST_BE_READ,
            NO_KEY,
            NO_HTTP,
        ],
    }
}

/// Only some models report word times (transducers, CTC), and only Whisper and `SenseVoice` report the
/// language.
const fn sherpa_onnx() -> SttCapability {
    SttCapability {
        accepts: none,
        max_bytes: SAMPLES,
        lacks: &[
            (
                Lack::SegmentTimes,
                "its result has timestamps of tokens only",
            ),
            (Lack::Confidence, "its result does not contain it"),
            (Lack::Hint, "it has no such option that every model accepts"),
            NO_MODEL_NAME,
            (
                Lack::UsualModel,
                "its model is a directory named in the settings",
            ),
            MUST_BE_READ,
            NO_KEY,
            NO_HTTP,
        ],
    }
}
