//! The hosted speakers, and Coqui's server: what is special to one of them. What all hold is in
//! `conformance_tts`.

mod borrowed;
mod coqui;
mod elevenlabs;
mod google;
mod openai;
