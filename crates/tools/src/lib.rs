//! The built-in tools (`calc`, `web_fetch`, `web_search`) and the tools of MCP servers.
//!
//! A tool's input comes from a model, which may have read anything, and what a tool brings back was
//! written by strangers. So every tool bounds time, memory and output, goes out through
//! [`gatehouse_outbound`] only, and puts no secret into an answer or an error. Nothing here decides who
//! may use which tool; that is `gatehouse_agents`' policy.

mod calc;
mod fetch;
mod html;
mod input;
mod mcp;
mod off_thread;
mod register;
mod search;
mod text;

pub use mcp::{Mcp, McpServerSettings, McpState, McpStatus, McpVariable};
pub use register::{ToolsHandle, ToolsParts, ToolsSettings, register};
pub use search::{SearchProvider, WebSearchSettings};
