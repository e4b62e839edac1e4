//! Tests of individual hosted text-to-speech providers and Coqui's server. `conformance_tts` tests what is
//! common to all.

mod borrowed;
mod coqui;
mod elevenlabs;
mod google;
mod openai;
mod voices;
