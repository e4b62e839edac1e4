//! Starts a server's program, or calls its URL, and shakes hands.

use super::listener::Listener;
use super::log;
use super::program::Program;
use super::server::Server;
use super::servers::McpServerSettings;
use gatehouse_outbound::Reach;
use gatehouse_secrets::{Environment, Status};
use rmcp::RoleClient;
use rmcp::service::{RunningService, serve_client};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use secrecy::{ExposeSecret, SecretString};
use std::collections::BTreeMap;
use tokio::process::Command;
use url::Url;

/// The largest message that is taken from a server.
const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// Why there is no connection. Said to people, never a secret.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectError {
    #[error("the vault is sealed; it starts when the vault is unsealed")]
    Sealed,
    #[error("the vault's environment variables cannot be read")]
    Secrets,
    #[error("its program cannot be started: {0}")]
    Program(std::io::ErrorKind),
    #[error("its URL cannot be called: {0}")]
    Url(#[from] gatehouse_outbound::OutboundError),
    #[error("it does not accept the connection as an MCP server does")]
    Handshake,
}

/// A server after the handshake.
pub(super) type Connection = RunningService<RoleClient, Listener>;

/// Connects. Dropping this before it is done kills a program that was started.
pub(super) async fn connect(
    server: &Server,
    listener: Listener,
) -> Result<Connection, ConnectError> {
    let environment = environment(server).await?;
    match &*server.settings {
        McpServerSettings::Command { command, args, env } => {
            let mut command = Command::new(command);
            command.args(args);
            let program = start(server, command, env, environment)?;
            serve_client(listener, program).await
        }
        McpServerSettings::Url(url) => {
            let transport = call(server, url, &environment)?;
            serve_client(listener, transport).await
        }
    }
    .map_err(|error| {
        tracing::debug!(server = %server.name, %error, "the handshake failed");
        ConnectError::Handshake
    })
}

/// The vault's variables; none may be missing only because the vault is sealed.
async fn environment(server: &Server) -> Result<Environment, ConnectError> {
    let secrets = &server.world.parts.secrets;
    let environment = secrets.environment().await.map_err(|error| {
        tracing::error!(%error, "the environment variables for MCP servers cannot be read");
        ConnectError::Secrets
    })?;
    if !environment.unreadable.is_empty() && secrets.status() == Status::Sealed {
        return Err(ConnectError::Sealed);
    }
    Ok(environment)
}

/// Starts the program with an environment that holds nothing of ours but what is named here.
fn start(
    server: &Server,
    mut command: Command,
    env: &BTreeMap<String, SecretString>,
    vault: Environment,
) -> Result<Program, ConnectError> {
    command.env_clear();
    let inherited = server.child_variables.iter();
    command.envs(inherited.map(|(name, value)| (name, value)));
    for (name, value) in vault.variables.iter().map(|(n, v)| (n, v)).chain(env) {
        command.env(name, value.expose_secret());
    }
    let (program, stderr) =
        Program::start(command).map_err(|error| ConnectError::Program(error.kind()))?;
    if let Some(stderr) = stderr {
        let secrets = vault.variables.into_iter().map(|(_, value)| value);
        let secrets = secrets.chain(env.values().cloned()).collect();
        log::follow(server.name.clone(), stderr, secrets);
    }
    Ok(program)
}

/// Calls the URL with the client for the owner's own addresses. That client judges names when it connects;
/// an address is judged here, and the URL is always this one, for redirects are not followed.
fn call(
    server: &Server,
    url: &Url,
    vault: &Environment,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, ConnectError> {
    let outbound = &server.world.parts.outbound;
    outbound.check_url(Reach::Owner, url)?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .max_sse_event_size(MAX_MESSAGE_BYTES);
    let variable = token_variable(&server.name);
    let mut variables = vault.variables.iter();
    if let Some((_, token)) = variables.find(|(name, _)| *name == variable) {
        config = config.auth_header(token.expose_secret());
    }
    let client = outbound.client(Reach::Owner).clone();
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// The vault's variable that holds the token for a server: `MCP_FILES_TOKEN` for `files`.
fn token_variable(server: &str) -> String {
    let letter = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    format!(
        "MCP_{}_TOKEN",
        server.chars().map(letter).collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_named_after_their_server() {
        assert_eq!(token_variable("my-files.2"), "MCP_MY_FILES_2_TOKEN");
    }
}
