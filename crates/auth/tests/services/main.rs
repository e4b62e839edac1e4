//! The crate's services on every available database engine: decisions, setup, credentials, audit.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot continue has failed"
)]

mod api_keys;
mod audit;
mod decisions;
mod liveness;
mod login;
mod memory;
mod nodes;
mod passkeys;
mod reported;
mod reset;
mod setup;
mod sockets;
mod support;
mod vault;
