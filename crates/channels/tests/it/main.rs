//! Tests the crate over a real database with fake vendors. Each fake checks its requests against the vendor's
//! documentation, which its file names.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests; the exception in clippy.toml covers only tests"
)]

mod accounts;
mod discord;
mod dovecot;
mod email;
mod harness;
mod http;
mod imap;
mod inbound_email;
mod inbox;
mod live;
mod matrix;
mod metrics;
mod ntfy;
mod pairings;
mod parts;
mod pictures;
mod slack;
mod smtp;
mod telegram;
mod vault;
mod vendor;
mod voices;
