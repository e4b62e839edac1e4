//! Paths compatible with `OpenAI`'s audio API (<https://platform.openai.com/docs/api-reference/audio>). `OpenAI`'s
//! clients can use this server for speech through them. `OpenAI`'s model and voice names are accepted and map to the
//! configured providers.

mod events;
pub(in crate::routes) mod names;
pub(in crate::routes) mod recognition;
pub(in crate::routes) mod speech;
mod speech_events;
mod transcript_events;
pub(in crate::routes) mod transcriptions;
pub(in crate::routes) mod translations;
pub(in crate::routes) mod voices;
