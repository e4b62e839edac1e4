//! Text to speech in the requested format.
//!
//! `request` validates, and `order` selects the persona, the providers and the text. `complete` synthesizes the
//! complete audio with one provider. `stream` forwards audio as it arrives, `shared_stream` shares one stream among
//! identical requests, and `observed` records the stream. `samples` joins several pieces of text into one audio.
//! `voices` lists the voices of a provider, and `trial` tests a provider.

mod complete;
mod container;
mod convert;
mod observed;
mod order;
mod provider_call;
mod request;
mod samples;
mod shared_stream;
mod stream;
mod trial;
mod voices;

pub(crate) use complete::CompleteSpeech;
pub use convert::Converted;
pub use request::SpeechRequest;
pub(crate) use shared_stream::SharedStreams;
pub use stream::Streamed;
pub use voices::OfferedVoice;
