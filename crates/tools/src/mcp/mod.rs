//! MCP servers: programs and services that provide more tools, for trusted turns only.
//!
//! One task supervises all servers, and each server has its own task. A server that exits or cannot start is retried
//! with a growing delay. Its tools are unavailable until then. The gateway's start does not wait for the servers.

#[cfg(feature = "mcp")]
mod ask;
mod authorize;
#[cfg(feature = "mcp")]
mod bearer;
#[cfg(feature = "mcp")]
mod catalogue;
#[cfg(feature = "mcp")]
mod connect;
#[cfg(feature = "mcp")]
mod connect_error;
#[cfg(feature = "mcp")]
mod content;
mod dependencies;
mod handle;
#[cfg(feature = "mcp")]
mod http_client;
#[cfg(feature = "mcp")]
mod known_resources;
#[cfg(feature = "mcp")]
mod listener;
#[cfg(feature = "mcp")]
mod listing;
#[cfg(feature = "mcp")]
mod log;
mod manage;
#[cfg(feature = "mcp")]
mod names;
#[cfg_attr(
    not(feature = "mcp"),
    expect(dead_code, reason = "needed only for servers")
)]
mod oauth;
mod offers;
mod other_nodes;
#[cfg(feature = "mcp")]
mod oversized;
#[cfg(feature = "mcp")]
mod pages;
mod program;
mod prompts;
#[cfg(feature = "mcp")]
mod resources;
#[cfg(feature = "mcp")]
mod review;
#[cfg(feature = "mcp")]
mod schema;
#[cfg(feature = "mcp")]
mod server;
#[cfg(feature = "mcp")]
mod server_lifecycle;
mod status;
#[cfg(feature = "mcp")]
mod supervise;
#[cfg(feature = "mcp")]
mod tool;

pub use dependencies::vault_variables;
pub use handle::Mcp;
pub use manage::McpError;
pub use oauth::{Authorization, Callback, GivenClient, OAuthError};
pub use offers::{McpArgument, McpOffers, McpPrompt, McpResource};
pub use prompts::McpPromptText;
pub use status::{McpReview, McpState, McpStatus, McpToolStatus, ToolForm};
