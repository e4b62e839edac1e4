//! Speech to text.

mod request;
mod stream;
mod subtitles;
mod transcribe;

pub(crate) use request::LANGUAGES;
pub use request::{MAX_AUDIO_BYTES, TranscribeRequest};
pub use subtitles::SubtitleFormat;
pub use transcribe::Transcript;
