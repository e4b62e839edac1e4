//! Paths compatible with `OpenAI`'s audio API (<https://platform.openai.com/docs/api-reference/audio>), so
//! its clients can use this server for speech. `OpenAI`'s model and voice names are accepted and map to the
//! configured providers.

pub(in crate::routes) mod names;
pub(in crate::routes) mod speech;
pub(in crate::routes) mod transcriptions;
