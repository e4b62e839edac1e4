//! The built-in tools (`calc`, `web_fetch`, `web_search`) and the tools of MCP servers.
//!
//! A tool's input comes from a model that may have read untrusted text, and its output may be untrusted text. Every
//! tool therefore limits time, memory and output, makes requests only through [`gatehouse_outbound`], and puts no
//! secret into an answer or an error. This crate does not decide who may use which tool. The policy of
//! `gatehouse_agents` decides that.

mod calc;
mod fetch;
mod files;
mod html;
mod input;
mod mcp;
mod off_thread;
mod pdf;
mod register;
mod search;
mod secrets;
mod text;

pub use files::FileError;
pub use mcp::{Authorization, Callback, GivenClient, OAuthError};
pub use mcp::{
    Mcp, McpArgument, McpError, McpOffers, McpPrompt, McpPromptText, McpResource, McpReview,
    McpState, McpStatus, McpToolStatus, ToolForm, vault_variables,
};
pub use register::{ToolsHandle, ToolsParts, ToolsSettings, register};
pub use search::key_binding;
