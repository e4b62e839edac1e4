//! Speaking and listening: thirteen providers behind two traits, personas, what agents say by themselves.
//!
//! [`Voice`] is the handle. A text is made speakable, split where a provider's limit wants it, spoken
//! in the voice that request, persona and settings agree on, and given out in the format that was asked
//! for; audio is recognised, made into what a provider takes, and comes back as text. This room must not
//! know RPC, HTTP servers or what a setting is called.

mod aac;
mod capability;
mod error;
mod means;
mod programs;
mod provider;
mod settings;
mod stt;
mod tts;

pub use error::VoiceError;
pub use provider::{SttId, TtsId};
pub use settings::{
    AutoSpeak, Borrowed, Patience, SttProviderSettings, SttSettings, TtsProviderSettings,
    TtsSettings, VoiceSettings,
};
pub use stt::{Segment, Word};
