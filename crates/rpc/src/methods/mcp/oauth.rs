//! `mcp.authorize` and `mcp.disconnect`: connecting an MCP server with an account (OAuth).

use super::NameParams;
use crate::method_entry::{Audit, Call, Method, method};
use gatehouse_auth::Subject;
use gatehouse_config::McpServer as Configured;
use gatehouse_domain::{ErrorCode, Problem, Scope, visible};
use gatehouse_services::{Services, to_problem};
use gatehouse_tools::{Authorization, GivenClient, McpStatus};
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

/// The longest client ID or secret.
const MAX_CLIENT_BYTES: usize = 2048;

pub const AUTHORIZE: Method = method!(
    "mcp.authorize",
    "Starts connecting an MCP server behind a URL with an account (OAuth). Returns the URL that the person opens in the \
     browser of this login session, within ten minutes.",
    Some(Scope::Admin),
    authorize(AuthorizeParams) -> AuthorizeResult,
    errors: [NotFound, Conflict, ConfirmationRequired, ProviderFailed],
    audit: Audit::row("mcp.authorization_started", &["name"], &[])
);

pub const DISCONNECT: Method = method!(
    "mcp.disconnect",
    "Forgets the authorization of an MCP server, and asks the authorization server to revoke it.",
    Some(Scope::Admin),
    disconnect(NameParams) -> DisconnectResult,
    errors: [NotFound, Conflict],
    audit: Audit::Transaction("mcp.disconnected")
);

/// Params of `mcp.authorize`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuthorizeParams {
    /// The name of a server with a `url`, as in `mcp.list`.
    name: String,
    /// The ID of a client that was registered at the authorization server manually, with `redirect_url` of
    /// `mcp.list`. Needed where the authorization server offers no registration. It replaces the earlier client
    /// when the person has authorized it.
    client_id: Option<String>,
    /// The secret of that client, if it has one. It is not returned.
    #[schemars(with = "Option<String>")]
    client_secret: Option<SecretString>,
}

/// Result of `mcp.authorize`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuthorizeResult {
    /// The URL of the authorization server at which the person authorizes Gatehouse. It contains the `state` of this
    /// request.
    pub url: String,
}

/// Result of `mcp.disconnect`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DisconnectResult {
    /// Whether the authorization server confirmed that it revoked the tokens. Otherwise only the gateway deleted them.
    pub revoked: bool,
}

/// How an MCP server is connected with an account.
#[derive(Debug, Serialize, JsonSchema)]
pub struct McpAuth {
    /// Always `oauth`.
    pub kind: &'static str,
    /// `needed`: no account is connected. `connected`. `failed`: there are tokens, but the last refresh failed or
    /// the server refused them.
    pub state: &'static str,
    /// The issuer URL of the authorization server; absent until `mcp.authorize` has found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The ID of the client that was entered; absent for one that was registered automatically.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// When the access token expires (RFC 3339). It is refreshed before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// When the stored authorization last changed (RFC 3339): its tokens, or the outcome of a request for them. Absent
    /// while there are no tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<String>,
    /// Why the last request for tokens failed, or that the server refused them; absent after a success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The redirect URL to register at an authorization server. Each MCP server has its own.
    pub redirect_url: String,
}

/// Returns the address of the callback. Each server has its own, so an answer cannot be sent to another server.
fn redirect_url(services: &Services, name: &str) -> String {
    let base = services.config.base_url();
    format!("{base}/auth/callback/{name}")
}

/// Returns the authorization state of a server that uses or needs an account.
pub(super) fn auth_of(
    services: &Services,
    status: &McpStatus,
    stored: Option<&Authorization>,
) -> Option<McpAuth> {
    let resolved = services.config.resolved();
    let Some(Configured::Url { url, .. }) = resolved.settings.mcp.servers.get(&status.name) else {
        return None;
    };
    let stored = stored.filter(|stored| stored.is_for(url));
    if stored.is_none() && !status.is_unauthorized {
        return None;
    }
    let state = match stored {
        Some(stored) if stored.is_authorized && stored.error.is_some() => "failed",
        Some(stored) if stored.is_authorized => "connected",
        _ => "needed",
    };
    Some(McpAuth {
        kind: "oauth",
        state,
        issuer: stored.and_then(|stored| {
            let issuer = visible::line(stored.issuer.as_ref()?).text;
            Some(issuer.into_owned())
        }),
        client_id: stored.and_then(|stored| stored.client_id.clone()),
        expires_at: stored.and_then(|stored| Some(stored.expires_at?.to_string())),
        changed_at: stored
            .filter(|stored| stored.is_authorized)
            .map(|stored| stored.changed_at.to_string()),
        error: stored.and_then(|stored| stored.error.clone()),
        redirect_url: redirect_url(services, &status.name),
    })
}

async fn authorize(call: Call, params: AuthorizeParams) -> Result<AuthorizeResult, Problem> {
    call.services.auth.require_step_up(&call.identity).await?;
    let Subject::Session(session) = &call.identity.subject else {
        return Err(Problem::new(
            ErrorCode::Forbidden,
            "This requires a login session, because the person returns to it from the authorization server. Log in with a browser.",
        ));
    };
    let AuthorizeParams {
        name,
        client_id,
        client_secret: secret,
    } = params;
    if client_id.is_none() && secret.is_some() {
        return Err(Problem::invalid_params(
            "client_id",
            "required with `client_secret`",
        ));
    }
    let is_wrong = |text: &str| {
        !(1..=MAX_CLIENT_BYTES).contains(&text.len()) || text.chars().any(char::is_control)
    };
    if client_id.as_deref().is_some_and(is_wrong) {
        return Err(Problem::invalid_params(
            "client_id",
            "1 to 2048 visible characters",
        ));
    }
    if secret
        .as_ref()
        .is_some_and(|secret| is_wrong(secret.expose_secret()))
    {
        return Err(Problem::invalid_params(
            "client_secret",
            "1 to 2048 visible characters",
        ));
    }
    let client = client_id.map(|id| GivenClient { id, secret });
    let mcp = call.services.tools.mcp();
    let redirect = redirect_url(&call.services, &name);
    let url = mcp.authorize(&name, (session.id().as_str(), &redirect), client);
    Ok(AuthorizeResult {
        url: url.await.map_err(to_problem)?,
    })
}

async fn disconnect(call: Call, params: NameParams) -> Result<DisconnectResult, Problem> {
    let mcp = call.services.tools.mcp();
    let disconnected = mcp.disconnect(&call.actor(), &params.name).await;
    Ok(DisconnectResult {
        revoked: disconnected.map_err(to_problem)?,
    })
}
