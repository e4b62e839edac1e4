//! Tests the crate through its public API, over real databases: SQLite always, PostgreSQL if the
//! test command has started one.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot continue has failed"
)]

mod auto_unseal;
mod crash;
mod disable;
mod environment;
mod harness;
mod interleavings;
mod lifecycle;
mod nodes;
mod plans;
mod protected;
mod provider_keys;
mod provider_rows;
mod rotate;
mod sharing;
mod ssh_keys;
mod uses;
