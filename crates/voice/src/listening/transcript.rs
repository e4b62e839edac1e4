//! A transcript and the properties of its audio.

use crate::attempt::Attempt;
use crate::stt::{Segment, SttId, SttResult, TranscriptStream, Word, language_name};
use gatehouse_audio::Kind;
use schemars::JsonSchema;
use serde::Serialize;

/// A transcript.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Transcript {
    pub text: String,
    /// The recognized language, else the requested one, else `und`.
    pub language: String,
    /// The provider's confidence, 0 to 1.
    pub confidence: Option<f64>,
    /// The duration of the audio; 0 if it could not be measured.
    pub duration_seconds: f64,
    /// The words, if the provider returns timestamps.
    pub words: Vec<Word>,
    /// The segments, about a sentence each, if the provider returns timestamps.
    pub segments: Vec<Segment>,
    /// The provider that transcribed the audio.
    pub provider: SttId,
    /// The providers tried, in order.
    pub attempts: Vec<Attempt>,
}

impl Transcript {
    /// Returns the lowercase English name of the language, as in `OpenAI`'s `verbose_json`; its code if the name is
    /// unknown.
    pub fn language_name(&self) -> &str {
        language_name(&self.language)
    }
}

/// Audio with its recognized properties.
pub(super) struct InspectedAudio {
    pub(super) kind: Option<Kind>,
    /// The measured duration.
    pub(super) duration_ms: Option<u64>,
}

/// The form of the result that a caller requests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    Whole,
    /// Pieces, if the provider streams them.
    Pieces,
}

/// The answer of a provider.
pub(super) enum Heard {
    Whole(SttResult),
    Pieces(TranscriptStream),
}

#[expect(
    clippy::cast_precision_loss,
    reason = "at most a few days in milliseconds"
)]
pub(super) fn transcript(
    id: SttId,
    recognized: SttResult,
    looked: &InspectedAudio,
    attempts: Vec<Attempt>,
) -> Transcript {
    let measured = looked.duration_ms.map(|ms| ms as f64 / 1000.0);
    Transcript {
        text: recognized.text,
        language: recognized.language.unwrap_or_else(|| "und".to_owned()),
        confidence: recognized.confidence,
        duration_seconds: measured.or(recognized.duration_seconds).unwrap_or_default(),
        words: recognized.words,
        segments: recognized.segments,
        provider: id,
        attempts,
    }
}
