//! Errors of an authorization.

use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_outbound::OutboundError;
use gatehouse_secrets::SecretsError;
use gatehouse_store::StoreError;

/// Why an authorization could not be started, completed, refreshed or ended. Shown to people. Contains no secrets and
/// no text of another server.
#[derive(Debug, thiserror::Error)]
pub enum OAuthError {
    #[error("The MCP server does not exist.")]
    NotFound,
    #[error("The MCP server is a program. Only a server behind a URL can be authorized.")]
    NotHttp,
    #[error("The URL of the MCP server contains a secret. It cannot be authorized with OAuth.")]
    SecretUrl,
    #[error("A URL of the MCP server or its authorization server cannot be called: {0}.")]
    Outbound(#[from] OutboundError),
    #[error("An address of the authorization server does not use https.")]
    NotHttps,
    #[error("The MCP server does not name an authorization server.")]
    NoServer,
    #[error("The metadata of the MCP server describes another server.")]
    OtherResource,
    #[error("The metadata of the authorization server cannot be read.")]
    NoMetadata,
    #[error("The metadata of the authorization server names another issuer.")]
    OtherIssuer,
    #[error("The authorization server does not support PKCE with S256, which is required.")]
    NoPkce,
    #[error("Register Gatehouse at the authorization server {0}, then enter the client ID.")]
    NoClient(String),
    #[error("The authorization server refused to register Gatehouse ({0}).")]
    Registration(String),
    #[error(
        "No authorization is in progress, or it has expired. Start it again on the MCP servers page."
    )]
    NoFlow,
    #[error("The answer names another authorization server. Nothing was changed.")]
    WrongIssuer,
    /// The error code that the authorization server sent.
    #[error("The authorization server refused the request ({0}).")]
    Refused(String),
    #[error("The authorization was denied.")]
    Denied,
    #[error("The authorization server no longer accepts the authorization. Connect again.")]
    InvalidGrant,
    #[error("The authorization server answered with the status {0}.")]
    Status(u16),
    #[error("The answer of the authorization server cannot be read.")]
    BadAnswer,
    #[error("The MCP server requires an authorization. Connect it on the MCP servers page.")]
    NotAuthorized,
    #[error(
        "The MCP server refused the access token, and there is no refresh token. Connect again."
    )]
    Expired,
    #[error("The MCP server refused a new access token. Connect again.")]
    TokenRefused,
    #[error("The authorization was changed by another request. Try again.")]
    Changed,
    #[error(transparent)]
    Secrets(#[from] SecretsError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("The gateway is stopping.")]
    Stopping,
}

impl OAuthError {
    /// Returns the text for people. Errors of the database and the vault are not described.
    pub(in super::super) fn text(&self) -> String {
        match self {
            Self::Secrets(SecretsError::Sealed) => {
                "The vault is sealed, so the tokens cannot be read.".to_owned()
            }
            Self::Secrets(_) | Self::Store(_) => {
                "The stored tokens cannot be read or written.".to_owned()
            }
            other => other.to_string(),
        }
    }
}

impl From<OAuthError> for Problem {
    fn from(error: OAuthError) -> Self {
        match error {
            OAuthError::Secrets(error) => error.into(),
            OAuthError::Store(error) => error.into(),
            OAuthError::NotFound => Self::not_found("MCP server"),
            OAuthError::NoClient(_) => Self::invalid_params("client_id", error.to_string()),
            OAuthError::NotHttp | OAuthError::SecretUrl | OAuthError::Changed => {
                Self::new(ErrorCode::Conflict, error.to_string())
            }
            OAuthError::NoFlow | OAuthError::WrongIssuer => {
                Self::new(ErrorCode::InvalidRequest, error.to_string())
            }
            other => Self::new(ErrorCode::ProviderFailed, other.to_string()),
        }
    }
}
