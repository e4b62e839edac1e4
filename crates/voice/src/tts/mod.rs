//! Text-to-speech providers: the trait, and one file per provider.

mod audio_content;
mod coqui;
mod elevenlabs;
mod google;
mod openai;
mod piper;
mod wire;

use crate::means::Means;
use crate::programs::Programs;
use crate::provider::TtsId;
use crate::{VoiceError, settings::TtsProviderSettings};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use gatehouse_audio::Format;
use secrecy::SecretString;
use std::fmt;
use url::Url;

/// A text-to-speech provider. It converts a resolved call to the vendor's request, and returns the bytes as
/// they arrive.
pub(crate) trait Tts: Send + Sync + fmt::Debug {
    /// Synthesizes the text. The bytes must match [`Speech::encoding`]. An error may also be the last item of
    /// the stream.
    fn speak<'a>(
        &'a self,
        means: &'a Means,
        call: &'a TtsCall,
    ) -> BoxFuture<'a, Result<Speech, VoiceError>>;

    /// The request fields that the selected model does not support although other models of the provider do.
    fn ignores(&self, _call: &TtsCall) -> Vec<&'static str> {
        Vec::new()
    }
}

/// A synthesis call. Request, persona, settings and defaults are merged already, and unsupported parameters
/// are not set.
#[derive(Clone, Debug)]
pub(crate) struct TtsCall {
    /// Not empty, and within the provider's limit.
    pub(crate) text: String,
    /// The requested output.
    pub(crate) want: Want,
    /// The vendor's address including its version segment. `None` for programs.
    pub(crate) base_url: Option<Url>,
    pub(crate) key: Option<SecretString>,
    pub(crate) voice: Option<String>,
    pub(crate) model: Option<String>,
    /// 1 is normal, 2 is twice as fast.
    pub(crate) speed: Option<f64>,
    /// 0 to 1.
    pub(crate) stability: Option<f64>,
    /// 0 to 1.
    pub(crate) similarity_boost: Option<f64>,
    /// Semitones, -20 to 20.
    pub(crate) pitch: Option<f64>,
    /// How to speak, in words.
    pub(crate) instructions: Option<String>,
    /// The provider's settings, for values without a field of their own: the language and a program's paths.
    pub(crate) settings: TtsProviderSettings,
}

/// The requested output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// This format, which the provider supports.
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

/// The implementation of this provider.
pub(crate) fn provider(id: TtsId) -> &'static dyn Tts {
    match id {
        TtsId::ElevenLabs => &elevenlabs::ElevenLabs,
        TtsId::OpenAi => &openai::OpenAi,
        TtsId::Google => &google::Google,
        TtsId::Piper => &piper::Piper,
        TtsId::Coqui => &coqui::Coqui,
    }
}

/// The missing setting or program of a local program. Always `None` for other providers.
pub(crate) fn program_lacks(
    id: TtsId,
    settings: &TtsProviderSettings,
    programs: &Programs,
) -> Option<VoiceError> {
    match id {
        TtsId::Piper => piper::Piper::missing(settings, programs),
        TtsId::ElevenLabs | TtsId::OpenAi | TtsId::Google | TtsId::Coqui => None,
    }
}
