//! Speaking: from a text to audio in the format that was asked for.

mod attempt;
mod convert;
mod request;

pub use convert::{Attempt, Converted};
pub use request::SpeechRequest;
