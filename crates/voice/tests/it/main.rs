//! Tests of the crate's public API, against fake vendors that accept only documented requests, and against real
//! programs if available.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a test that cannot continue has failed"
)]

mod conformance_stt;
mod conformance_tts;
mod convert;
mod documented;
mod harness;
mod lacks;
mod local;
mod personas;
mod spans;
mod stt_cloud;
mod transcribe;
mod trial;
mod tts_cloud;
mod vendor;
mod wyoming;
mod wyoming_clients;
