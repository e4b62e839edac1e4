//! Calls and connections against a real database, on a clock that stands still until it is moved.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod channels;
mod connection;
mod connection_limits;
mod dispatch;
mod harness;
mod line;
mod liveness;
mod methods;
mod models;
mod openrpc;
mod vault;
mod voice;
