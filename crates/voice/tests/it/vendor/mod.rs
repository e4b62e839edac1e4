//! Vendors played by HTTP servers, and programs played by scripts, one file each, built from their published
//! documents: they check what they are sent and refuse what the vendor would refuse.

pub mod coqui;
pub mod deepgram;
pub mod elevenlabs;
pub mod google_stt;
pub mod google_tts;
pub mod listener;
pub mod mood;
pub mod openai_stt;
pub mod openai_tts;
pub mod program;
pub mod strict;
pub mod tone;
