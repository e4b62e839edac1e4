//! Tests of the crate with fake vendors that follow the vendors' documentation, and with real servers where
//! available.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot continue has failed"
)]

mod adapt;
mod anthropic;
mod anthropic_clients;
mod choose;
#[path = "../../../../tests/clients.rs"]
mod clients;
mod documents;
mod harness;
mod keys;
mod limits;
mod listing;
mod llama;
mod openai;
mod reasoning;
mod retry;
mod trouble;
mod vendor;
mod wire;
