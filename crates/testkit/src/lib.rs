//! Support for integration tests: a real server on a temporary database, callers, sockets, and independent
//! authenticators. Never part of the product.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a test that cannot be set up has failed"
)]

pub mod actor;
pub mod authenticator;
pub mod raw;
pub mod server;
pub mod socket;

pub use actor::{Actor, Reply};
pub use authenticator::SoftAuthenticator;
pub use raw::{raw, raw_request};
pub use server::{Options, TestServer};
pub use socket::{Received, Socket};

/// A recording of an English sentence, made with espeak-ng: WAV, 16 kHz, mono.
pub const SPEECH: &[u8] = include_bytes!("../fixtures/speech.wav");

/// The password of the owner in every test.
pub const PASSWORD: &str = "correct horse battery staple";
