//! The access token of requests to a server, when it comes from OAuth.

use super::oauth::{OAuth, OAuthError, Token};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use url::Url;

/// The source of the tokens of one server.
#[derive(Clone)]
pub(super) struct Bearer {
    oauth: OAuth,
    server: String,
    url: Url,
    is_unauthorized: Arc<AtomicBool>,
}

impl Bearer {
    pub(super) fn new(oauth: OAuth, server: String, url: Url) -> Self {
        Self {
            oauth,
            server,
            url,
            is_unauthorized: Arc::default(),
        }
    }

    /// Whether the server refused a request because it needs an authorization.
    pub(super) fn unauthorized(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_unauthorized)
    }

    /// The token to send, if there is one; a new one in place of the rejected one. The error is for people and models.
    pub(super) async fn token(&self, rejected: Option<&Token>) -> Result<Option<Token>, String> {
        let token = self.oauth.token(&self.server, &self.url, rejected).await;
        token.map_err(|error| {
            self.is_unauthorized.store(true, Ordering::Relaxed);
            error.text()
        })
    }

    /// The server accepted the token.
    pub(super) async fn accepted(&self, token: &Token) {
        if token.has_error {
            self.oauth.works(&self.server, token).await;
        }
    }

    /// The server refused a request with this token, or without one. Returns the reason for people.
    pub(super) async fn refused(&self, token: Option<&Token>) -> String {
        self.is_unauthorized.store(true, Ordering::Relaxed);
        match token {
            Some(token) => {
                self.oauth.refused(&self.server, token).await;
                OAuthError::TokenRefused.text()
            }
            None => OAuthError::NotAuthorized.text(),
        }
    }
}
