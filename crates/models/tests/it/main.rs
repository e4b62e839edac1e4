//! The room against vendors that say what their documents show, and against real servers where there are some.

mod anthropic;
mod choose;
mod harness;
mod keys;
mod limits;
mod listing;
mod llama;
mod openai;
mod retry;
mod trouble;
mod vendor;
