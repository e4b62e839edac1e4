//! Tests of the crate on real databases, with a scripted model provider that uses the real wire format.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers outside test functions may fail the test as tests do"
)]

use gatehouse_doubles::openai as fake_model;

mod agents;
mod approvals;
mod attachments;
mod context;
mod edits;
mod ended_early;
mod harness;
mod lanes;
mod long_history;
mod lost;
mod model_trouble;
mod nodes;
mod one_off;
mod reasoning;
mod retention;
mod sealed;
mod sessions;
mod share;
mod speaker;
mod spoken_answers;
mod spoken_parts;
mod stops;
mod taint;
mod timeout;
mod tool_status;
mod tools;
mod trust;
mod turn_pictures;
mod turns;
mod usage;
