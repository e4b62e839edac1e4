//! Starts a server's program or connects to its URL, and performs the handshake.

use super::bearer::Bearer;
use super::connect_error::ConnectError;
use super::dependencies::{service_at, token_variable};
use super::http_client::HttpClient;
use super::listener::Listener;
use super::log;
use super::program::Program;
use super::server::Server;
use crate::register::ToolsParts;
use gatehouse_config::{McpServer, McpVariable};
use gatehouse_domain::env_names::steers_a_program;
use gatehouse_outbound::AddressSource;
use gatehouse_secrets::{Environment, KeyOfService, SecretKind, SecretsError, Status};
use rmcp::RoleClient;
use rmcp::service::{RunningService, serve_client};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use secrecy::{ExposeSecret, SecretString};
use std::collections::BTreeMap;
use tokio::process::Command;
use url::Url;

/// The largest event that is accepted from a server. The library accepts 16 MiB of JSON.
const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// A server after the handshake.
pub(super) type Connection = RunningService<RoleClient, Listener>;

/// Connects to a server. Dropping the future kills a program that it started.
pub(super) async fn connect(
    server: &Server,
    listener: Listener,
) -> Result<Connection, ConnectError> {
    match &*server.settings {
        McpServer::Command { command, args, env } => {
            let forgotten = server.dependencies.oauth.forget(&server.name, None).await;
            forgotten.map_err(|_| ConnectError::Secrets)?;
            let env = environment(server, env).await?;
            let program = start(server, command, args, &env)?;
            serve_client(listener, program).await
        }
        McpServer::Url { url, headers } => {
            let oauth = server.dependencies.oauth.clone();
            let bearer = Bearer::new(oauth, server.name.clone(), url.clone());
            let transport = call(server, url, headers, bearer.clone()).await?;
            let connected = serve_client(listener, transport).await;
            if let (Err(_), Some(error)) = (&connected, bearer.error()) {
                return Err(error);
            }
            connected
        }
    }
    .map_err(|error| {
        tracing::debug!(server = %server.name, %error, "the handshake failed");
        ConnectError::Handshake
    })
}

/// Returns the variables in the server's settings, with their values. No other vault variable is
/// exposed.
async fn environment(
    server: &Server,
    env: &BTreeMap<String, McpVariable>,
) -> Result<Vec<(String, SecretString)>, ConnectError> {
    let in_vault = |variable: &McpVariable| matches!(variable, McpVariable::Vault(_));
    let vault = if env.values().any(in_vault) {
        let environment = server.dependencies.parts.secrets.environment().await;
        environment.map_err(|error| unreadable(&error))?
    } else {
        Environment::default()
    };
    let mut variables = Vec::with_capacity(env.len());
    for (name, variable) in env {
        let value = match variable {
            McpVariable::Literal(value) => value.clone(),
            // The settings already reject such a variable. This is the last check before the
            // program starts.
            McpVariable::Vault(_) if steers_a_program(name) => continue,
            McpVariable::Vault(key) => {
                let value = of_vault(server, &vault, key)?;
                let secrets = &server.dependencies.parts.secrets;
                secrets.note_use(SecretKind::Env, key);
                value
            }
        };
        variables.push((name.clone(), value));
    }
    Ok(variables)
}

fn of_vault(server: &Server, vault: &Environment, key: &str) -> Result<SecretString, ConnectError> {
    if let Some((_, value)) = vault.variables.iter().find(|(name, _)| name == key) {
        return Ok(value.clone());
    }
    if !vault.unreadable.iter().any(|name| name == key) {
        return Err(ConnectError::Missing(key.to_owned()));
    }
    match server.dependencies.parts.secrets.status() {
        Status::Sealed => Err(ConnectError::Sealed),
        _ => Err(ConnectError::Secrets),
    }
}

fn unreadable(error: &SecretsError) -> ConnectError {
    if matches!(error, SecretsError::Sealed) {
        return ConnectError::Sealed;
    }
    tracing::error!(%error, "the environment variables for MCP servers cannot be read");
    ConnectError::Secrets
}

/// Starts the program. It gets only these variables and the inherited variables on the allow list.
fn start(
    server: &Server,
    command: &str,
    args: &[SecretString],
    env: &[(String, SecretString)],
) -> Result<Program, ConnectError> {
    let mut command = Command::new(command);
    command.args(args.iter().map(ExposeSecret::expose_secret));
    command.env_clear();
    let inherited = server.child_variables.iter();
    command.envs(inherited.map(|(name, value)| (name, value)));
    for (name, value) in env {
        command.env(name, value.expose_secret());
    }
    let (program, stderr) =
        Program::start(command).map_err(|error| ConnectError::Program(error.kind()))?;
    if let Some(stderr) = stderr {
        let secrets = env.iter().map(|(_, value)| value).chain(args);
        log::follow(server.name.clone(), stderr, secrets.cloned().collect());
    }
    Ok(program)
}

/// Connects to the URL with the client for owner addresses. The client checks resolved names. Literal addresses are
/// checked here. Redirects are not followed, so the URL never changes.
async fn call(
    server: &Server,
    url: &Url,
    headers: &BTreeMap<String, SecretString>,
    bearer: Bearer,
) -> Result<StreamableHttpClientTransport<HttpClient>, ConnectError> {
    let ToolsParts {
        outbound, secrets, ..
    } = &server.dependencies.parts;
    outbound.check_url(AddressSource::Owner, url)?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
    let variable = token_variable(&server.name);
    let key = secrets.key_of_service(&variable, &service_at(url)).await;
    match key.map_err(|error| unreadable(&error))? {
        KeyOfService::Key(token) => config = config.auth_header(token.expose_secret()),
        KeyOfService::Absent => {}
        KeyOfService::Elsewhere(origin) => {
            return Err(ConnectError::KeyOfAnother(variable, origin));
        }
    }
    let headers = headers.iter();
    let client = HttpClient::new(
        outbound.client(AddressSource::Owner).clone(),
        MAX_MESSAGE_BYTES,
        headers
            .map(|(name, value)| (name.clone(), value.expose_secret().to_owned()))
            .collect(),
        server.dependencies.request_secrets.clone(),
        bearer,
    );
    if let Err(reason) = client.check(url).await {
        return Err(match secrets.status() {
            Status::Sealed => ConnectError::Sealed,
            _ => ConnectError::Secret(reason.trim_end_matches('.').to_owned()),
        });
    }
    Ok(StreamableHttpClientTransport::with_client(client, config))
}
