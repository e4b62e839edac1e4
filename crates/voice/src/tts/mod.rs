//! Text-to-speech providers: their list, and one file per provider.

mod audio_content;
mod coqui;
mod elevenlabs;
mod google;
mod openai;
mod piper;
mod wire;

pub use openai::VOICES as OPENAI_VOICES;

use crate::VoiceError;
use crate::endpoint::Endpoint;
use crate::provider::{About, ProviderSettings, providers};
use crate::resources::Resources;
use crate::speech::OfferedVoice;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use gatehouse_audio::Format;
use secrecy::SecretString;
use std::fmt;
use std::ops::RangeInclusive;
use url::Url;

/// A text-to-speech provider.
#[derive(Debug)]
pub struct TtsProvider {
    pub(crate) about: About,
    /// Formats that the provider returns. Other formats are encoded here from samples.
    pub native: &'static [Format],
    /// The longest text per request, in characters; `usize::MAX` if only bytes count.
    pub max_characters: usize,
    /// The longest text per request, in bytes of UTF-8; `usize::MAX` if only characters count.
    pub max_bytes: usize,
    /// Whether audio arrives before the whole text is synthesized.
    pub streams: bool,
    /// The supported speeds, where 1 is normal. Other values are clamped. `None` if the provider has no speed setting.
    pub speed: Option<RangeInclusive<f64>>,
    pub(crate) parameters: &'static [Parameter],
    /// Lists the voices that a request can name; `None` if there is no such list.
    pub(crate) voices: Option<ListVoices>,
    /// Synthesizes the text. The bytes must match [`Speech::encoding`]. An error may also be the last item of
    /// the stream.
    pub(crate) speak: for<'a> fn(&'a Resources, &'a TtsCall) -> Speaking<'a>,
    /// Returns the request fields that the selected model does not support, although other models of the provider do.
    pub(crate) ignores: fn(&TtsCall) -> Vec<&'static str>,
}

/// Lists a provider's voices.
pub(crate) type ListVoices =
    for<'a> fn(&'a Resources, &'a Endpoint) -> BoxFuture<'a, Result<Vec<OfferedVoice>, VoiceError>>;

/// The result of `speak`.
pub(crate) type Speaking<'a> = BoxFuture<'a, Result<Speech, VoiceError>>;

/// A parameter of speech that some providers lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A voice name or ID in a request.
    Voice,
    /// Selecting a model by name.
    Model,
    /// `stability` and `similarity_boost`.
    Stability,
    Pitch,
    /// Instructions on how to speak: a persona's prompt.
    Instructions,
}

impl TtsProvider {
    /// Returns whether the provider supports this parameter.
    pub fn takes(&self, parameter: Parameter) -> bool {
        self.parameters.contains(&parameter)
    }

    /// Returns the fields of a persona's binding that the provider supports.
    pub(crate) fn binding(&self) -> Vec<&'static str> {
        let stability = self.takes(Parameter::Stability);
        let fields = [
            ("voice_id", self.takes(Parameter::Voice)),
            ("model", self.takes(Parameter::Model)),
            ("speed", self.speed.is_some()),
            ("stability", stability),
            ("similarity_boost", stability),
            ("pitch", self.takes(Parameter::Pitch)),
        ];
        let taken = fields.into_iter().filter(|(_, is_taken)| *is_taken);
        taken.map(|(field, _)| field).collect()
    }
}

providers! {
    /// A text-to-speech provider.
    TtsId in tts: TtsProvider {
        ElevenLabs = elevenlabs,
        OpenAi = openai,
        Google = google,
        Piper = piper,
        Coqui = coqui,
    }
}

/// A synthesis call. Request, persona, settings and defaults are already merged. Unsupported parameters are not set.
#[derive(Clone, Debug)]
pub(crate) struct TtsCall {
    /// Not empty, and within the provider's limit.
    pub(crate) text: String,
    pub(crate) want: RequestedOutput,
    /// The vendor's address including its version segment. `None` for programs.
    pub(crate) base_url: Option<Url>,
    pub(crate) key: Option<SecretString>,
    pub(crate) voice: Option<String>,
    /// Whether the voice comes from the request, not from the persona or the settings.
    pub(crate) is_voice_requested: bool,
    pub(crate) model: Option<String>,
    /// 1 is normal, 2 is twice as fast.
    pub(crate) speed: Option<f64>,
    /// 0 to 1.
    pub(crate) stability: Option<f64>,
    /// 0 to 1.
    pub(crate) similarity_boost: Option<f64>,
    /// Semitones, -20 to 20.
    pub(crate) pitch: Option<f64>,
    /// Instructions on how to speak.
    pub(crate) instructions: Option<String>,
    /// The provider's settings, for values without a field of their own: the language and a program's paths.
    pub(crate) settings: ProviderSettings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestedOutput {
    /// This format. The provider supports it.
    Native(Format),
    /// Samples, as WAV or raw, to be joined or encoded here.
    Samples,
}

/// Speech as it arrives.
pub(crate) struct Speech {
    /// The format of the bytes.
    pub(crate) encoding: Encoding,
    pub(crate) body: BoxStream<'static, Result<Bytes, VoiceError>>,
}

impl fmt::Debug for Speech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Speech")
            .field("encoding", &self.encoding)
            .finish_non_exhaustive()
    }
}

/// The format of a provider's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// The requested format.
    Native(Format),
    /// WAV, with its parameters in the header.
    Wav,
    /// Raw signed 16-bit little-endian mono samples.
    Samples {
        /// Samples per second.
        rate: u32,
    },
}
