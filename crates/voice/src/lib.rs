//! Speaking and listening: thirteen providers behind two traits, personas, what agents say by themselves.
//!
//! [`Voice`] is the handle. A text is made speakable, split where a provider's limit wants it, spoken
//! in the voice that request, persona and settings agree on, and given out in the format that was asked
//! for; audio is recognised, made into what a provider takes, and comes back as text. This room must not
//! know RPC, HTTP servers or what a setting is called.

mod aac;
mod attempt;
mod auto_speak;
mod cache;
mod capability;
mod desk;
mod error;
mod handle;
mod listening;
mod means;
mod persona;
mod place;
mod programs;
mod provider;
mod session_audio;
mod settings;
mod speak_tool;
mod speech;
mod status;
mod stt;
mod subtitles;
mod text;
mod tts;
mod usage;

pub use attempt::Attempt;
pub use capability::{Lack, Lacks, SttCapability, TtsCapability};
pub use error::VoiceError;
pub use handle::{Voice, VoiceParts};
pub use listening::{MAX_AUDIO_BYTES, SubtitleFormat, TranscribeRequest, Transcript};
pub use persona::{
    ActivePersona, ActivePersonaParams, FallbackPolicy, NewPersona, Persona, PersonaBinding,
    PersonaChanges, PersonaEvent, PersonaList, PersonaParams, PersonaPrompt, Personas,
};
pub use place::KeyPlace;
pub use provider::{SttId, TtsId};
pub use session_audio::{HeardAudio, NewAudio, StoredAudio};
pub use settings::{
    AutoSpeak, Borrowed, Patience, SttProviderSettings, SttSettings, TtsProviderSettings,
    TtsSettings, VoiceSettings,
};
pub use speech::{Converted, SpeechRequest, Streamed};
pub use status::{ProviderStatus, SttStatus, TtsStatus};
pub use stt::{Segment, Word};
pub use text::markup::{MarkupFilter, Tag};
