//! The paths of `OpenAI`'s audio API (<https://platform.openai.com/docs/api-reference/audio>), so that
//! clients that are made for it can speak and listen here. `OpenAI`'s names of models and voices are known
//! and mean whoever is chosen here. Errors are ours: the clients look at the status.

pub(in crate::routes) mod models;
mod names;
pub(in crate::routes) mod speech;
pub(in crate::routes) mod transcriptions;
