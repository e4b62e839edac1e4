//! MCP servers: programs and services that bring further tools, for trusted turns only.
//!
//! One task watches over all servers, one task over each. A server that dies, or cannot be started, is
//! tried again after a wait that grows; while it is away its tools are gone. Nothing of this holds up the
//! gateway's start.

#[cfg(feature = "mcp")]
mod connect;
#[cfg(feature = "mcp")]
mod content;
#[cfg(feature = "mcp")]
mod listener;
#[cfg(feature = "mcp")]
mod listing;
#[cfg(feature = "mcp")]
mod log;
#[cfg(feature = "mcp")]
mod names;
#[cfg(feature = "mcp")]
mod program;
#[cfg(feature = "mcp")]
mod schema;
#[cfg(feature = "mcp")]
mod server;
mod servers;
mod status;
#[cfg(feature = "mcp")]
mod supervise;
#[cfg(feature = "mcp")]
mod tool;

pub use servers::{Mcp, McpServerSettings, McpVariable};
pub use status::{McpState, McpStatus};
