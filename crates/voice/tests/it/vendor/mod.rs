//! Fake vendors as HTTP servers and fake programs as scripts, one file each, based on the published
//! documentation. They check their input and reject what the vendor would reject.

pub mod coqui;
pub mod deepgram;
pub mod elevenlabs;
pub mod fake_server;
pub mod google_stt;
pub mod google_tts;
pub mod listener;
pub mod openai_stt;
pub mod openai_tts;
pub mod program;
pub mod strict;
pub mod tone;
pub mod whisper_server;
pub mod wyoming;
