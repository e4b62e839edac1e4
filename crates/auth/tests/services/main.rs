//! The gate's services on every engine that is there: decisions, setup, credentials, audit.

mod api_keys;
mod audit;
mod decisions;
mod login;
mod memory;
mod reset;
mod setup;
mod sockets;
mod support;
