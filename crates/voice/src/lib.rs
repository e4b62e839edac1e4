//! Text to speech and speech to text: thirteen providers behind two traits, personas, and spoken agent
//! answers.
//!
//! [`Voice`] is the handle. For speech, the text is cleaned up and split to fit the provider's limit. It is
//! spoken in the voice that the request, the persona and the settings select, and converted to the requested
//! format. For transcription, the audio format is recognized and converted to one that the provider accepts.
//! The crate does not know about RPC, HTTP servers or the names of settings.

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
