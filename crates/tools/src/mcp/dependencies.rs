//! The dependencies of the servers, their settings, and the names of their token variables.

use super::oauth::OAuth;
use super::status::Board;
use crate::files::FileReader;
use crate::register::ToolsParts;
use crate::secrets::{RequestSecrets, named_secrets};
use gatehouse_agents::Tool;
use gatehouse_config::{McpServer, McpVariable};
use gatehouse_domain::KeyBinding;
use secrecy::ExposeSecret;
use std::collections::{BTreeMap, BTreeSet};
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
    /// The secrets for requests to HTTP servers.
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
    /// The number of requested restarts of each server.
    pub(super) restarts: BTreeMap<String, u64>,
    pub(super) child_variables: Arc<Vec<(String, OsString)>>,
}

/// Returns the vault variable with the token of a server: `MCP_FILES_TOKEN` for `files`.
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

/// Returns the vault variables that a server uses, whether they exist or not. A program uses the variables in its
/// settings. A URL uses the variables that the URL and its headers name, and the variable for its token.
pub fn vault_variables(name: &str, server: &McpServer) -> Vec<String> {
    let names: BTreeSet<String> = match server {
        McpServer::Command { env, .. } => {
            let in_vault = |variable: &McpVariable| match variable {
                McpVariable::Vault(key) => Some(key.clone()),
                McpVariable::Literal(_) => None,
            };
            env.values().filter_map(in_vault).collect()
        }
        McpServer::Url { url, headers } => {
            let values = headers.values().map(ExposeSecret::expose_secret);
            let mut names = named_secrets(url, values);
            names.insert(token_variable(name));
            names
        }
    };
    names.into_iter().collect()
}

/// Returns the key binding of the server at this URL.
pub(super) fn service_at(url: &Url) -> KeyBinding {
    KeyBinding::of_url("mcp", url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::SecretString;

    #[test]
    fn tokens_are_named_after_their_server() {
        assert_eq!(token_variable("my-files.2"), "MCP_MY_FILES_2_TOKEN");
    }

    #[test]
    fn a_program_uses_the_variables_of_the_vault_and_not_its_own_names() {
        let of_vault = |key: &str| McpVariable::Vault(key.to_owned());
        let env = BTreeMap::from([
            ("A".to_owned(), of_vault("ONE")),
            (
                "B".to_owned(),
                McpVariable::Literal(SecretString::from("TWO")),
            ),
            ("C".to_owned(), of_vault("ONE")),
        ]);
        let server = McpServer::Command {
            command: "x".to_owned(),
            args: Vec::new(),
            env,
        };
        assert_eq!(vault_variables("far", &server), ["ONE"]);
    }

    #[test]
    fn a_url_uses_the_variables_that_it_and_its_headers_name_and_its_token() {
        let url =
            Url::parse("https://mcp.example/{{secret:PATH_KEY}}/mcp?key={{secret:QUERY_KEY}}");
        let header = |name: &str, value: &str| (name.to_owned(), SecretString::from(value));
        let server = McpServer::Url {
            url: url.unwrap(),
            headers: BTreeMap::from([
                header("x-key", "Bearer {{secret:ONE}} {{secret:ONE}}"),
                header("x-open", "{{secret:TWO"),
            ]),
        };
        let names = ["MCP_FAR_TOKEN", "ONE", "PATH_KEY", "QUERY_KEY"];
        assert_eq!(vault_variables("far", &server), names);
    }
}
