//! Calls and connections against a real database, with a manual clock.

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
