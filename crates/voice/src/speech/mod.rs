//! Speaking: from a text to audio in the format that was asked for.
//!
//! `request` checks, `order` decides (persona, speakers to ask, text to say), `made` has one speaker make
//! all of it, `stream` hands it on as it comes. Several pieces of text become one audio in `samples`.

mod attempt;
mod convert;
mod made;
mod order;
mod request;
mod samples;
mod stream;

pub use attempt::Attempt;
pub use convert::Converted;
pub use request::SpeechRequest;
pub use stream::Streamed;
