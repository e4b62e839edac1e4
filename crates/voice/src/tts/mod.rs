//! Who speaks: the one trait, and one file a provider.

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

/// A provider of speech. It gets what was decided (whose voice, which model), turns it into the vendor's
/// request, and gives back the bytes as they come.
pub(crate) trait Tts: Send + Sync + fmt::Debug {
    /// Speaks. The bytes that come must be what [`Speech::encoding`] says; an error may also come
    /// in the middle of them, as the last item.
    fn speak<'a>(
        &'a self,
        means: &'a Means,
        call: &'a TtsCall,
    ) -> BoxFuture<'a, Result<Speech, VoiceError>>;

    /// What of the call this model cannot follow although the provider's others can, by the names that
    /// requests have for it.
    fn ignores(&self, _call: &TtsCall) -> Vec<&'static str> {
        Vec::new()
    }
}

/// What is to be spoken, and how. Everything is decided: request, persona, settings and defaults are
/// one by now, and what the provider's capabilities do not name is not set.
#[derive(Clone, Debug)]
pub(crate) struct TtsCall {
    /// Not empty, and within the provider's limit.
    pub(crate) text: String,
    /// What the bytes should be.
    pub(crate) want: Want,
    /// Where the vendor is, with its version segment. Programs have none.
    pub(crate) base_url: Option<Url>,
    /// Its key.
    pub(crate) key: Option<SecretString>,
    /// Whose voice.
    pub(crate) voice: Option<String>,
    /// Which model.
    pub(crate) model: Option<String>,
    /// 1 is as usual, 2 twice as fast.
    pub(crate) speed: Option<f64>,
    /// 0 to 1.
    pub(crate) stability: Option<f64>,
    /// 0 to 1.
    pub(crate) similarity_boost: Option<f64>,
    /// Semitones, -20 to 20.
    pub(crate) pitch: Option<f64>,
    /// How to speak, in words.
    pub(crate) instructions: Option<String>,
    /// The provider's settings, for what stands nowhere else: the language, and a program's paths.
    pub(crate) settings: TtsProviderSettings,
}

/// What the bytes should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// This format, which the provider's capabilities name.
    Native(Format),
    /// Samples, as WAV or bare: they are joined or encoded here.
    Samples,
}

/// Speech as it comes.
pub(crate) struct Speech {
    /// What the bytes are.
    pub(crate) encoding: Encoding,
    /// The bytes.
    pub(crate) body: BoxStream<'static, Result<Bytes, VoiceError>>,
}

impl fmt::Debug for Speech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Speech")
            .field("encoding", &self.encoding)
            .finish_non_exhaustive()
    }
}

/// What bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// The format that was wanted.
    Native(Format),
    /// WAV: the header tells the rest.
    Wav,
    /// Signed 16-bit little-endian samples, mono, without a header.
    Samples {
        /// Samples a second.
        rate: u32,
    },
}

/// The provider of this id.
pub(crate) fn provider(id: TtsId) -> &'static dyn Tts {
    match id {
        TtsId::ElevenLabs => &elevenlabs::ElevenLabs,
        TtsId::OpenAi => &openai::OpenAi,
        TtsId::Google => &google::Google,
        TtsId::Piper => &piper::Piper,
        TtsId::Coqui => &coqui::Coqui,
    }
}

/// What a program here lacks; others lack nothing that could be looked for.
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
