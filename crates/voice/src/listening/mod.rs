//! Speech to text.

mod request;
mod stream;
mod subtitles;
mod transcribe;
mod transcript;
mod trial;

pub(crate) use request::{LANGUAGES, check_language};
pub use request::{MAX_AUDIO_BYTES, TranscribeRequest};
pub(crate) use stream::Hearing;
pub use subtitles::SubtitleFormat;
pub(crate) use transcribe::{RECOGNISERS_RATE, samples};
pub use transcript::Transcript;

use std::ops::RangeInclusive;

/// The accepted sample rates of sound that arrives from a microphone, in samples per second.
pub(crate) const MICROPHONE_RATES: RangeInclusive<u32> = 8_000..=48_000;
