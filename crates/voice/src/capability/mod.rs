//! The capability table of all providers. What a provider lacks is stated only here, with the reason.
//! Production code reads it, the conformance suites skip what is lacking and check the rest, and
//! `docs/API-voice.md` repeats it.

mod listening;
mod speaking;

use gatehouse_audio::{Format, Kind};
use std::ops::RangeInclusive;

/// A capability that a provider may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lack {
    /// A voice name or ID in a request.
    Voice,
    /// Selecting a model by name.
    Model,
    /// A default model.
    UsualModel,
    Speed,
    /// A narrower range of speeds than requests allow.
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

/// The missing capabilities, with a one-line reason each.
pub type Lacks = &'static [(Lack, &'static str)];

/// The capabilities of a text-to-speech provider.
#[derive(Clone, Debug)]
pub struct TtsCapability {
    /// Formats that the provider returns; others are encoded here from samples.
    pub native: &'static [Format],
    /// The longest text per request, in characters; `usize::MAX` if only bytes count.
    pub max_characters: usize,
    /// The longest text per request, in bytes of UTF-8; `usize::MAX` if only characters count.
    pub max_bytes: usize,
    /// The supported speeds, where 1 is normal. Other values are clamped.
    pub speed: Option<RangeInclusive<f64>>,
    pub lacks: Lacks,
}

impl TtsCapability {
    pub fn is_lacking(&self, lack: Lack) -> bool {
        is_in(self.lacks, lack)
    }
}

/// The capabilities of a speech-to-text provider.
#[derive(Clone, Debug)]
pub struct SttCapability {
    /// Kinds of audio accepted as they are; others are converted to 16 kHz WAV here.
    pub accepts: fn(Kind) -> bool,
    /// The largest audio per request, in bytes.
    pub max_bytes: usize,
    pub lacks: Lacks,
}

impl SttCapability {
    pub fn is_lacking(&self, lack: Lack) -> bool {
        is_in(self.lacks, lack)
    }
}

fn is_in(lacks: Lacks, lack: Lack) -> bool {
    lacks.iter().any(|(each, _)| *each == lack)
}

/// For providers called over HTTP.
const HOSTED: (Lack, &str) = (Lack::Program, "it is a server, not a local process");
/// For programs.
const NO_HTTP: (Lack, &str) = (
    Lack::Http,
    "it is a program and reports only success or failure",
);
/// For programs.
const NO_KEY: (Lack, &str) = (Lack::Key, "a local program needs no key");
/// For programs.
const NO_MODEL_NAME: (Lack, &str) = (Lack::Model, "its model is a file named in the settings");

#[cfg(test)]
mod tests;
