//! Calls and connections against a real database, on a clock that stands still until it is moved.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod connection;
mod dispatch;
mod harness;
mod methods;
mod openrpc;
