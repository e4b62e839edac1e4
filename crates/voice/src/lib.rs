//! Text to speech and speech to text: thirteen providers, personas, and spoken agent
//! answers.
//!
//! [`Voice`] is the handle. For speech, the text is cleaned up and split to fit the provider's limit. It is spoken in
//! the voice that the request, the persona and the settings select, and converted to the requested format. For
//! transcription, the audio format is recognized and converted to one that the provider accepts. The crate does not
//! depend on RPC or HTTP servers.

mod aac;
mod attempt;
mod auto_speak;
mod cache;
mod cpu;
mod endpoint;
mod error;
mod flights;
mod handle;
mod last_use;
mod listening;
mod off_thread;
mod persona;
mod programs;
mod provider;
mod resources;
mod retry;
mod session_audio;
mod settings;
mod spans;
mod speak_tool;
mod speech;
mod status;
mod stt;
mod subtitles;
mod talk;
mod text;
mod tts;
mod usage;
mod wyoming;

pub use attempt::Attempt;
pub use endpoint::KeyEndpoint;
pub use error::VoiceError;
pub use handle::{Voice, VoiceParts};
pub use last_use::LastUse;
pub use listening::{MAX_AUDIO_BYTES, SubtitleFormat, TranscribeRequest, Transcript};
pub use persona::{
    ActivePersona, ActivePersonaParams, FallbackPolicy, NewPersona, Persona, PersonaBinding,
    PersonaChanges, PersonaEvent, PersonaList, PersonaParams, PersonaPrompt, Personas,
};
pub use provider::{About, ProviderId, ProviderSetting, ProviderSettings};
pub use session_audio::{HeardAudio, NewAudio, StoredAudio};
pub use settings::{
    AutoSpeak, Borrowed, SectionSettings, SpeakingSettings, Timeouts, VoiceSettings,
};
pub use speech::{Converted, OfferedVoice, SpeechRequest, Streamed};
pub use status::{ProviderDetails, ProviderStatus, SttStatus, TtsStatus};
pub use stt::{Segment, SttId, SttProvider, TokenUsage, TranscriptPiece, TranscriptStream, Word};
pub use talk::{
    Admit, Talk, TalkInput, TalkMessage, TalkOutput, TalkParts, TalkStart, error_message,
};
pub use text::markup::{MarkupFilter, Tag};
pub use tts::{OPENAI_VOICES, Parameter, TtsId, TtsProvider};
