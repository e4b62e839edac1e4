//! Speech-to-text providers: their list, and one file per provider.

mod deepgram;
mod events;
mod google;
mod groq;
mod hint;
mod label;
mod language;
mod mistral;
mod openai;
mod reading;
mod sherpa_onnx;
mod stream;
mod transcriptions;
mod translate;
mod voxtral;
mod whisper_cli;
mod words;

pub(crate) use stream::{Streaming, pieces_of};
pub use stream::{TokenUsage, TranscriptPiece, TranscriptStream};
pub(crate) use translate::Translator;

use crate::VoiceError;
use crate::last_use::Setup;
use crate::provider::{About, ProviderSettings, providers};
use crate::resources::Resources;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use gatehouse_audio::Kind;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Serialize;
use url::Url;

/// A speech-to-text provider.
#[derive(Debug)]
pub struct SttProvider {
    pub(crate) about: About,
    /// Returns whether a kind of audio is accepted unchanged. Other kinds are converted here to 16
    /// kHz WAV.
    pub accepts: fn(Kind) -> bool,
    /// The largest audio per request, in bytes.
    pub max_bytes: usize,
    /// Whether the provider supports a hint about the content.
    pub takes_hints: bool,
    /// The translation to English. `None` if the provider does not translate.
    pub(crate) translator: Option<Translator>,
    /// The streaming transcription. `None` if the provider returns only whole transcripts.
    pub(crate) streaming: Option<Streaming>,
    /// Transcribes the audio.
    pub(crate) listen: for<'a> fn(&'a Resources, &'a SttCall) -> Listening<'a>,
}

impl SttProvider {
    /// Returns whether the provider translates speech to English.
    pub const fn translates(&self) -> bool {
        self.translator.is_some()
    }
}

/// The result of `listen`.
pub(crate) type Listening<'a> = BoxFuture<'a, Result<SttResult, VoiceError>>;

const MIB: usize = 1 << 20;
/// The size limit for programs: more than two hours of 16 kHz samples, the longest audio that is decoded.
const MAX_WAV_BYTES: usize = 256 * MIB;

/// Accepts the kinds that `OpenAI`'s transcription and compatible APIs accept.
const fn usual(kind: Kind) -> bool {
    !matches!(kind, Kind::Aac | Kind::Pcm { .. })
}

/// Accepts no kind: the provider gets only 16-bit mono WAV, converted here.
const fn only_wav(_: Kind) -> bool {
    false
}

providers! {
    /// A speech-to-text provider.
    SttId in stt: SttProvider {
        OpenAi = openai,
        Groq = groq,
        Deepgram = deepgram,
        Google = google,
        Mistral = mistral,
        Voxtral = voxtral,
        WhisperCli = whisper_cli,
        SherpaOnnx = sherpa_onnx,
    }
}

/// A transcription call with all parameters resolved.
#[derive(Clone, Debug)]
pub(crate) struct SttCall {
    /// The audio, of a kind that the provider accepts.
    pub(crate) audio: Bytes,
    /// The recognized kind. If `None`, the vendor gets the `declared` format.
    pub(crate) kind: Option<Kind>,
    /// The format declared by the caller: `mp3`, `opus`, ….
    pub(crate) declared: Option<String>,
    /// ISO 639-1, or a locale if the provider supports locales. The request takes precedence over the settings.
    pub(crate) language: Option<String>,
    /// A hint about the content: names and words that may occur.
    pub(crate) prompt: Option<String>,
    /// Whether timestamps are requested. They are always requested if they are free.
    pub(crate) timestamps: bool,
    /// Whether the speech is translated to English.
    pub(crate) translate: bool,
    pub(crate) model: Option<String>,
    /// The vendor's address including its version segment. `None` for programs.
    pub(crate) base_url: Option<Url>,
    pub(crate) key: Option<SecretString>,
    /// The provider's settings, for values without a field of their own.
    pub(crate) settings: ProviderSettings,
}

impl SttCall {
    /// Returns a fingerprint of the address, the key and the settings that the provider is used
    /// with.
    pub(crate) fn setup(&self) -> Setup {
        Setup::of(self.base_url.as_ref(), self.key.as_ref(), &self.settings)
    }
}

/// A transcription result.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SttResult {
    /// The text, trimmed.
    pub(crate) text: String,
    /// The detected language, as ISO 639-1 if it can be mapped ("english" and "en-US" become "en").
    pub(crate) language: Option<String>,
    /// 0 to 1.
    pub(crate) confidence: Option<f64>,
    /// The duration measured by the vendor.
    pub(crate) duration_seconds: Option<f64>,
    pub(crate) words: Vec<Word>,
    /// The segments, about one per sentence.
    pub(crate) segments: Vec<Segment>,
}

/// A word with its timestamps in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Word {
    pub word: String,
    /// The start in seconds.
    pub start: f64,
    /// The end in seconds.
    pub end: f64,
}

/// A segment of speech, about a sentence, with its timestamps in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Segment {
    pub text: String,
    /// The start in seconds.
    pub start: f64,
    /// The end in seconds.
    pub end: f64,
}

/// Returns the English name of the language with an ISO 639-1 code, or the code if the name is
/// unknown.
pub(crate) fn language_name(code: &str) -> &str {
    language::name(code).unwrap_or(code)
}

/// Returns the ISO 639-1 code of a language, or the language unchanged if it has none.
pub(crate) fn in_short(language: &str) -> String {
    language::code(language).unwrap_or_else(|| language.to_owned())
}
