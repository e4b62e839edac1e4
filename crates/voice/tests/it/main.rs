//! The room as its callers use it: against vendors that take only what their documents show, and against
//! real programs where there are some.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod conformance_stt;
mod conformance_tts;
mod convert;
mod documented;
mod harness;
mod local;
mod personas;
mod stt_cloud;
mod transcribe;
mod tts_cloud;
mod vendor;
