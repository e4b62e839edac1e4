//! Listening: from audio to text.

mod request;
mod transcribe;

pub use request::{MAX_AUDIO_BYTES, TranscribeRequest};
pub use transcribe::Transcript;
