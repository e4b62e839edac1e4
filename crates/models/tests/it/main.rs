//! The room against vendors that say what their documents show, and against real servers where there are some.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod anthropic;
mod choose;
mod documents;
mod harness;
mod keys;
mod limits;
mod listing;
mod llama;
mod openai;
mod retry;
mod trouble;
mod vendor;
