//! End-to-end tests of the whole server in one binary, organized by URL and method. Each test has its own
//! server and can run in parallel with any other.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests; the exception in clippy.toml covers only tests"
)]

mod audio;
mod auth;
mod bodies;
mod chat;
mod connections;
mod earlier_versions;
mod health;
mod incidents;
mod manual;
mod matrix;
mod mcp;
mod openai;
mod page_files;
mod pages;
mod prepared;
mod push;
mod python;
mod rpc;
mod slow;
mod steps;
mod telemetry;
mod tls;
mod upgrades;
mod vault;
mod voice;
mod webhooks;
mod ws;
