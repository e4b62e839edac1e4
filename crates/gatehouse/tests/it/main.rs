//! Tests of the real binary: started, stopped and killed, with a temporary data directory per test.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot be set up has failed"
)]

mod alertmanager;
mod backup;
mod backup_operator;
mod backup_trial;
mod bad_days;
mod chat;
mod chat_terminal;
mod check_profile;
#[path = "../../../../tests/clients.rs"]
mod clients;
mod commands;
mod deliveries;
#[cfg(feature = "voice")]
mod document_blocks;
mod documents;
mod export;
mod forward;
mod handshakes;
mod import;
mod interrupted_copies;
mod life;
mod log_pipe;
mod matrix;
mod mcp_clients;
mod memory;
mod move_database;
#[cfg(feature = "voice")]
mod openai_clients;
mod own_memory;
mod own_programs;
mod process;
mod profiles;
mod prometheus;
mod remains;
mod service;
mod ssh_agent_terminal;
mod starting;
mod terminal;
mod turns;
#[cfg(feature = "voice")]
mod voice;
mod without_server;
