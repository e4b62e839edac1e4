//! The capabilities that the providers lack. The conformance suites skip the cases that need them and check everything
//! else. `docs/API-voice.md` repeats the list.

use gatehouse_voice::{Parameter, ProviderId, SttId, TtsId};
use std::ops::RangeInclusive;

/// A capability that a provider may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// A voice name or ID in a request.
    Voice,
    /// Selecting a model by name.
    Model,
    /// A default model.
    UsualModel,
    Speed,
    /// A narrower speed range than requests allow.
    SpeedLimit,
    /// `stability` and `similarity_boost`.
    Stability,
    Pitch,
    /// Instructions on how to speak: a persona's prompt.
    Instructions,
    /// A setting for the spoken language.
    SpokenLanguage,
    /// A first byte before the whole audio is synthesized.
    Streaming,
    /// Audio with a recognizable format.
    Container,
    WordTimes,
    /// Segment timestamps, about one per sentence.
    SegmentTimes,
    Confidence,
    /// The recognized language.
    HeardLanguage,
    /// A hint about the content.
    Hint,
    /// Accepting unrecognized audio.
    UnrecognisedAudio,
    /// An API key.
    Key,
    /// HTTP: statuses, redirects, connections.
    Http,
    /// A local process.
    Program,
}

fn service_lacks(needs: &str, lack: Lack) -> bool {
    let is_program = needs.starts_with("model_");
    match lack {
        Lack::Key | Lack::UnrecognisedAudio => needs != "api_key",
        Lack::Http => is_program,
        Lack::Program => !is_program,
        _ => false,
    }
}

pub fn speaker_lacks(id: TtsId, lack: Lack) -> bool {
    let provider = id.provider();
    let lacks = |parameter| !provider.takes(parameter);
    match lack {
        Lack::Voice => lacks(Parameter::Voice),
        Lack::Model => lacks(Parameter::Model),
        Lack::Stability => lacks(Parameter::Stability),
        Lack::Pitch => lacks(Parameter::Pitch),
        Lack::Instructions => lacks(Parameter::Instructions),
        Lack::Speed => provider.speed.is_none(),
        Lack::SpeedLimit => {
            let is_whole = |speed: &RangeInclusive<f64>| *speed == (0.25..=4.0);
            provider.speed.as_ref().is_none_or(is_whole)
        }
        // The models of the other providers speak one language or detect it from the text.
        Lack::SpokenLanguage => id != TtsId::Google,
        Lack::Streaming => matches!(id, TtsId::Google | TtsId::Coqui),
        // Raw samples have no header, so any bytes are valid audio.
        Lack::Container => id == TtsId::Piper,
        _ => service_lacks(id.about().needs(), lack),
    }
}

pub fn listener_lacks(id: SttId, lack: Lack) -> bool {
    use SttId::{Google, Mistral, SherpaOnnx, Voxtral, WhisperCli};
    match lack {
        // vLLM returns only text for Voxtral.
        Lack::WordTimes => matches!(id, Mistral | Voxtral),
        Lack::SegmentTimes => matches!(id, Voxtral | SherpaOnnx),
        Lack::Confidence => matches!(id, Mistral | Voxtral | WhisperCli | SherpaOnnx),
        Lack::HeardLanguage => id == Voxtral,
        Lack::Hint => !id.provider().takes_hints,
        Lack::Model => matches!(id, WhisperCli | SherpaOnnx),
        // Google selects the model itself, and the model of a program is a file.
        Lack::UsualModel => matches!(id, Google | WhisperCli | SherpaOnnx),
        _ => service_lacks(id.about().needs(), lack),
    }
}
