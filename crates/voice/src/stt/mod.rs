//! Speech-to-text providers: the trait, and one file per provider.

mod deepgram;
mod google;
mod groq;
mod hint;
mod label;
mod language;
mod mistral;
mod openai;
mod reading;
mod sherpa_onnx;
mod transcriptions;
mod voxtral;
mod whisper_cli;
mod words;

use crate::means::Means;
use crate::programs::Programs;
use crate::provider::SttId;
use crate::{VoiceError, settings::SttProviderSettings};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use gatehouse_audio::Kind;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Serialize;
use std::fmt;
use url::Url;

/// A provider that converts speech to text.
pub(crate) trait Stt: Send + Sync + fmt::Debug {
    /// Transcribes the audio.
    fn listen<'a>(
        &'a self,
        means: &'a Means,
        call: &'a SttCall,
    ) -> BoxFuture<'a, Result<Heard, VoiceError>>;
}

/// A transcription call. All parameters are resolved, as with speech.
#[derive(Clone, Debug)]
pub(crate) struct SttCall {
    /// The audio, of a kind that the provider accepts.
    pub(crate) audio: Bytes,
    /// `None` if the audio was not recognized; the vendor then gets the `declared` format.
    pub(crate) kind: Option<Kind>,
    /// The format declared by the caller: `mp3`, `opus`, ….
    pub(crate) declared: Option<String>,
    /// ISO 639-1, or a locale if the provider supports it. From the request, else from the settings.
    pub(crate) language: Option<String>,
    /// A hint about the content: names and words that may occur.
    pub(crate) prompt: Option<String>,
    /// Whether timestamps are requested. Where they are free, they are always requested.
    pub(crate) timestamps: bool,
    pub(crate) model: Option<String>,
    /// The vendor's address including its version segment. `None` for programs.
    pub(crate) base_url: Option<Url>,
    pub(crate) key: Option<SecretString>,
    /// The provider's settings, for values without a field of their own.
    pub(crate) settings: SttProviderSettings,
}

/// A transcription result.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Heard {
    /// The text, trimmed.
    pub(crate) text: String,
    /// The detected language, as ISO 639-1 if it can be mapped ("english" and "en-US" become "en").
    pub(crate) language: Option<String>,
    /// 0 to 1.
    pub(crate) confidence: Option<f64>,
    /// The duration measured by the vendor.
    pub(crate) duration_seconds: Option<f64>,
    pub(crate) words: Vec<Word>,
    /// About one per sentence.
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

/// The ISO 639-1 code of a language, or the language unchanged if it has none.
pub(crate) fn in_short(language: &str) -> String {
    language::code(language).unwrap_or_else(|| language.to_owned())
}

/// The implementation of this provider.
pub(crate) fn provider(id: SttId) -> &'static dyn Stt {
    match id {
        SttId::OpenAi => &openai::OpenAi,
        SttId::Groq => &groq::Groq,
        SttId::Deepgram => &deepgram::Deepgram,
        SttId::Google => &google::Google,
        SttId::Mistral => &mistral::Mistral,
        SttId::Voxtral => &voxtral::Voxtral,
        SttId::WhisperCli => &whisper_cli::WhisperCli,
        SttId::SherpaOnnx => &sherpa_onnx::SherpaOnnx,
    }
}

/// The missing setting or program of a local program. Always `None` for other providers.
pub(crate) fn program_lacks(
    id: SttId,
    settings: &SttProviderSettings,
    programs: &Programs,
) -> Option<VoiceError> {
    match id {
        SttId::WhisperCli => whisper_cli::WhisperCli::missing(settings, programs),
        SttId::SherpaOnnx => sherpa_onnx::SherpaOnnx::missing(settings, programs),
        _ => None,
    }
}
