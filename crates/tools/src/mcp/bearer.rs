//! The access token from OAuth for requests to a server.

use super::connect_error::ConnectError;
use super::oauth::{OAuth, OAuthError, Token};
use arc_swap::ArcSwapOption;
use gatehouse_secrets::SecretsError;
use std::sync::Arc;
use url::Url;

/// The source of the tokens of one server.
#[derive(Clone)]
pub(super) struct Bearer {
    oauth: OAuth,
    server: String,
    url: Url,
    /// The reason why the last request had no token or was refused.
    error: Arc<ArcSwapOption<OAuthError>>,
}

impl Bearer {
    pub(super) fn new(oauth: OAuth, server: String, url: Url) -> Self {
        Self {
            oauth,
            server,
            url,
            error: Arc::default(),
        }
    }

    /// Returns the reason for the missing connection, if the reason is that no token was accepted.
    pub(super) fn error(&self) -> Option<ConnectError> {
        let error = self.error.load_full()?;
        Some(match &*error {
            OAuthError::Secrets(SecretsError::Sealed) => ConnectError::Sealed,
            OAuthError::NotAuthorized
            | OAuthError::InvalidGrant
            | OAuthError::Expired
            | OAuthError::TokenRefused => ConnectError::Unauthorized,
            other => ConnectError::NoToken(other.text().trim_end_matches('.').to_owned()),
        })
    }

    /// Stores the error and returns its text.
    fn keep(&self, error: OAuthError) -> String {
        let text = error.text();
        self.error.store(Some(Arc::new(error)));
        text
    }

    /// Returns the token to send, if there is one. If `rejected` is given, gets a new token. The error is for people
    /// and models.
    pub(super) async fn token(&self, rejected: Option<&Token>) -> Result<Option<Token>, String> {
        let token = self.oauth.token(&self.server, &self.url, rejected).await;
        token.map_err(|error| self.keep(error))
    }

    /// Records that the server accepted the token.
    pub(super) async fn accepted(&self, token: &Token) {
        if token.has_error {
            self.oauth.works(&self.server, token).await;
        }
    }

    /// Handles the refusal of a request with or without this token. Returns the reason as text for people.
    pub(super) async fn refused(&self, token: Option<&Token>) -> String {
        match token {
            Some(token) => {
                self.oauth.refused(&self.server, token).await;
                self.keep(OAuthError::TokenRefused)
            }
            None => self.keep(OAuthError::NotAuthorized),
        }
    }
}
