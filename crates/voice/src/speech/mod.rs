//! Speaking: from a text to audio in the format that was asked for.
//!
//! `request` checks, `order` decides (persona, speakers to ask, text to say), `made` has one speaker make
//! all of it, `stream` hands it on as it comes and `noted` watches that. Several pieces of text become one audio in `samples`.

mod convert;
mod made;
mod noted;
mod order;
mod request;
mod samples;
mod stream;

pub use convert::Converted;
pub use request::SpeechRequest;
pub use stream::Streamed;
