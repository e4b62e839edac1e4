//! The room over real databases, with a model provider that speaks the real wire format and says what a
//! test tells it to.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers outside test functions may fail the test as tests do"
)]

mod agents;
mod aloud;
mod approvals;
mod context;
mod fake_model;
mod harness;
mod lanes;
mod long_history;
mod sealed;
mod sessions;
mod share;
mod speaker;
mod timeout;
mod tools;
mod trust;
mod turns;
