//! One server, as the settings define it.

use super::dependencies::Dependencies;
use gatehouse_config::McpServer;
use std::ffi::OsString;
use std::sync::Arc;

/// One server.
pub(super) struct Server {
    pub(super) dependencies: Arc<Dependencies>,
    pub(super) name: String,
    pub(super) settings: Arc<McpServer>,
    pub(super) child_variables: Arc<Vec<(String, OsString)>>,
    /// The number of this start of the server.
    pub(super) run: u64,
}

/// Returns the group of a server's tools.
pub(super) fn group(server: &str) -> String {
    format!("mcp:{server}")
}
