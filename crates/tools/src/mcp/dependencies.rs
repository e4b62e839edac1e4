//! The dependencies of the servers, their settings, and the names of their tokens.

use super::oauth::OAuth;
use super::status::Board;
use crate::files::FileReader;
use crate::register::ToolsParts;
use crate::secrets::RequestSecrets;
use gatehouse_agents::Tool;
use gatehouse_config::McpServer;
use gatehouse_domain::KeyBinding;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use tokio::sync::watch;
use url::Url;

/// Replaces the tools of a group.
pub(crate) type Publish = Arc<dyn Fn(&str, Vec<Arc<dyn Tool>>) + Send + Sync>;

/// The dependencies of the servers.
#[cfg_attr(
    not(feature = "mcp"),
    expect(dead_code, reason = "needed only for servers")
)]
pub(crate) struct Dependencies {
    pub(crate) parts: ToolsParts,
    pub(crate) publish: Publish,
    /// For requests to servers over HTTP.
    pub(super) request_secrets: RequestSecrets,
    pub(super) oauth: OAuth,
    pub(super) board: Board,
    pub(super) files: Arc<FileReader>,
    #[cfg(feature = "mcp")]
    pub(super) peers: super::ask::Peers,
    /// Changes when the servers must list and review their tools again.
    pub(super) refresh: watch::Sender<u64>,
}

/// The servers that the settings define.
#[cfg_attr(
    not(feature = "mcp"),
    expect(dead_code, reason = "needed only for servers")
)]
#[derive(Clone)]
pub(super) struct ConfiguredServers {
    pub(super) servers: BTreeMap<String, Arc<McpServer>>,
    /// How often each server was started again on request.
    pub(super) restarts: BTreeMap<String, u64>,
    pub(super) child_variables: Arc<Vec<(String, OsString)>>,
}

/// The vault variable with the token of a server: `MCP_FILES_TOKEN` for `files`.
pub(super) fn token_variable(server: &str) -> String {
    let letter = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    let name: String = server.chars().map(letter).collect();
    format!("MCP_{name}_TOKEN")
}

/// The key binding of the server at this URL.
pub(super) fn service_at(url: &Url) -> KeyBinding {
    KeyBinding::of_url("mcp", url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_named_after_their_server() {
        assert_eq!(token_variable("my-files.2"), "MCP_MY_FILES_2_TOKEN");
    }
}
