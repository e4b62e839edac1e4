//! What each provider can do: the one table. What a provider lacks is said here, with the reason, and
//! nowhere else: production reads it, the conformance suites leave out what is lacking and check the rest,
//! and `docs/API-voice.md` repeats it.

mod listening;
mod speaking;

use gatehouse_audio::{Format, Kind};
use std::ops::RangeInclusive;

/// What a provider may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lack {
    /// A voice's name or id in a request.
    Voice,
    /// A model that is chosen by name.
    Model,
    /// A model that is asked for when nobody wants one.
    UsualModel,
    /// A speed.
    Speed,
    /// A bound of speeds that is narrower than that of requests.
    SpeedLimit,
    /// `stability` and `similarity_boost`.
    Stability,
    /// A pitch.
    Pitch,
    /// How to speak, in words: a persona's prompt.
    Instructions,
    /// A setting for the language that is spoken.
    SpokenLanguage,
    /// A first byte before the whole is made.
    Streaming,
    /// Audio that can be told from what is none.
    Container,
    /// Times of words.
    WordTimes,
    /// Times of sentences or so.
    SegmentTimes,
    /// How sure it is.
    Confidence,
    /// Which language it heard.
    HeardLanguage,
    /// A hint of what is talked about.
    Hint,
    /// A way for audio that nobody recognised.
    UnrecognisedAudio,
    /// A key.
    Key,
    /// HTTP: statuses, redirects, connections.
    Http,
    /// A process of this machine.
    Program,
}

/// What is lacking, and one line of why.
pub type Lacks = &'static [(Lack, &'static str)];

/// What a provider of speech can do.
#[derive(Clone, Debug)]
pub struct TtsCapability {
    /// Formats that it gives itself; others are made here from samples.
    pub native: &'static [Format],
    /// The longest text of one request, in characters; `usize::MAX` where only bytes count.
    pub max_characters: usize,
    /// The same in bytes of UTF-8; `usize::MAX` where only characters count.
    pub max_bytes: usize,
    /// The speeds that it takes, 1 being as usual; others are moved to the nearest.
    pub speed: Option<RangeInclusive<f64>>,
    /// What it lacks.
    pub lacks: Lacks,
}

impl TtsCapability {
    /// Whether it lacks this.
    pub fn is_lacking(&self, lack: Lack) -> bool {
        is_in(self.lacks, lack)
    }
}

/// What a provider of text can do.
#[derive(Clone, Debug)]
pub struct SttCapability {
    /// Kinds of audio that it takes as they are; others become 16 kHz WAV here.
    pub accepts: fn(Kind) -> bool,
    /// The largest audio of one request, in bytes.
    pub max_bytes: usize,
    /// What it lacks.
    pub lacks: Lacks,
}

impl SttCapability {
    /// Whether it lacks this.
    pub fn is_lacking(&self, lack: Lack) -> bool {
        is_in(self.lacks, lack)
    }
}

fn is_in(lacks: Lacks, lack: Lack) -> bool {
    lacks.iter().any(|(each, _)| *each == lack)
}

/// Of those who are called over HTTP.
const HOSTED: (Lack, &str) = (
    Lack::Program,
    "it is a server, not a process of this machine",
);
/// Of programs.
const NO_HTTP: (Lack, &str) = (
    Lack::Http,
    "it is a program: it ends well or not, and nothing else",
);
/// Of programs.
const NO_KEY: (Lack, &str) = (Lack::Key, "a program on this machine takes no key");
/// Of programs.
const NO_MODEL_NAME: (Lack, &str) = (Lack::Model, "its model is a file that the settings name");

#[cfg(test)]
mod tests;
