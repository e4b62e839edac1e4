//! Tests of the tools as agents use them: real agents, a real database, and fake vendors over real sockets.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot continue has failed"
)]

mod calc;
mod fetch;
mod fetch_files;
mod fetch_secrets;
mod harness;
mod hostile;
#[cfg(feature = "mcp")]
mod mcp_http;
#[cfg(feature = "mcp")]
mod mcp_pins;
#[cfg(feature = "mcp")]
mod mcp_prompts;
#[cfg(feature = "mcp")]
mod mcp_resources;
#[cfg(feature = "mcp")]
mod mcp_sdk;
#[cfg(feature = "mcp")]
mod mcp_secrets;
#[cfg(feature = "mcp")]
mod mcp_stdio;
mod pdf;
mod search;
