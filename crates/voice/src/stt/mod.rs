//! Who listens: the one trait, and one file a provider.

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

/// A provider that turns speech into text.
pub(crate) trait Stt: Send + Sync + fmt::Debug {
    /// Listens.
    fn listen<'a>(
        &'a self,
        means: &'a Means,
        call: &'a SttCall,
    ) -> BoxFuture<'a, Result<Heard, VoiceError>>;
}

/// What is to be understood, and how. Everything is decided, as with speech.
#[derive(Clone, Debug)]
pub(crate) struct SttCall {
    /// The audio, of a kind that the provider's capabilities name.
    pub(crate) audio: Bytes,
    /// What kind; `None` when nobody recognised it and the caller's word (`declared`) goes to the vendor.
    pub(crate) kind: Option<Kind>,
    /// What the caller said that it is: `mp3`, `opus`, ….
    pub(crate) declared: Option<String>,
    /// ISO 639-1, or a locale for those who take one. The request's, else the setting's.
    pub(crate) language: Option<String>,
    /// What it is about: names and words that may come.
    pub(crate) prompt: Option<String>,
    /// Whether times of words or segments are wanted (always, where they cost nothing).
    pub(crate) timestamps: bool,
    /// Which model.
    pub(crate) model: Option<String>,
    /// Where the vendor is, with its version segment. Programs have none.
    pub(crate) base_url: Option<Url>,
    /// Its key.
    pub(crate) key: Option<SecretString>,
    /// The provider's settings, for what stands nowhere else.
    pub(crate) settings: SttProviderSettings,
}

/// What a provider heard.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Heard {
    /// The text, without white space around it.
    pub(crate) text: String,
    /// The language that was detected, as ISO 639-1 where the vendor says something that can be
    /// turned into it ("english", "en-US" become "en").
    pub(crate) language: Option<String>,
    /// 0 to 1.
    pub(crate) confidence: Option<f64>,
    /// As the vendor measured it.
    pub(crate) duration_seconds: Option<f64>,
    /// Each word.
    pub(crate) words: Vec<Word>,
    /// Each sentence or so.
    pub(crate) segments: Vec<Segment>,
}

/// A word and when it was said, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Word {
    /// The word.
    pub word: String,
    /// When it begins.
    pub start: f64,
    /// When it ends.
    pub end: f64,
}

/// Some words and when they were said, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Segment {
    /// The words.
    pub text: String,
    /// When they begin.
    pub start: f64,
    /// When they end.
    pub end: f64,
}

/// A language as it is told: its ISO 639-1 code where it has one, else as it was said.
pub(crate) fn in_short(language: &str) -> String {
    language::code(language).unwrap_or_else(|| language.to_owned())
}

/// The provider of this id.
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

/// What a program here lacks; others lack nothing that could be looked for.
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
