//! The access token of a request, and a second attempt with a new one.

use super::{Failure, HttpClient};
use crate::mcp::oauth::Token;
use crate::secrets::{MIN_BYTES, Redactor, by_name};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use secrecy::{ExposeSecret, SecretString};

/// The number of tokens that are removed from answers. An answer may arrive after the next refresh.
const KEPT_TOKENS: usize = 3;

impl HttpClient {
    /// Sends a request with its fixed token, or with the token from OAuth. If the server refuses the OAuth token, gets
    /// a new one and repeats the request once. The outer error is the reason for a missing token, for people and
    /// models.
    pub(super) async fn with_token<T, F>(
        &self,
        fixed: Option<String>,
        send: impl Fn(Option<String>) -> F,
    ) -> Result<Result<T, Failure>, String>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        if fixed.is_some() || self.has_authorization() {
            let token = fixed.as_deref();
            if let Some(token) = token.filter(|token| token.len() >= MIN_BYTES) {
                self.hide(&SecretString::from(token));
            }
            return Ok(send(fixed).await);
        }
        let bearer = &self.bearer;
        let token = bearer.token(None).await?;
        let answer = send(self.exposed(token.as_ref())).await;
        let Some(old) = token else {
            return if is_unauthorized(&answer) {
                Err(bearer.refused(None).await)
            } else {
                Ok(answer)
            };
        };
        if !is_unauthorized(&answer) {
            if answer.is_ok() {
                bearer.accepted(&old).await;
            }
            return Ok(answer);
        }
        let Some(new) = bearer.token(Some(&old)).await? else {
            return Err(bearer.refused(None).await);
        };
        let answer = send(self.exposed(Some(&new))).await;
        if is_unauthorized(&answer) {
            return Err(bearer.refused(Some(&new)).await);
        }
        Ok(answer)
    }

    /// Returns whether a header of the settings contains credentials.
    fn has_authorization(&self) -> bool {
        let mut names = self.headers.keys();
        names.any(|name| name.eq_ignore_ascii_case("authorization"))
    }

    /// Returns the token's text, which is removed from the answers.
    fn exposed(&self, token: Option<&Token>) -> Option<String> {
        let access = &token?.access;
        self.hide(access);
        Some(access.expose_secret().to_owned())
    }

    /// Removes a token from the answers, because a server may return it.
    fn hide(&self, token: &SecretString) {
        self.tokens.rcu(|sent| {
            let others = sent
                .iter()
                .filter(|(_, it)| it.expose_secret() != token.expose_secret());
            let last = ("token".to_owned(), token.clone());
            std::iter::once(last)
                .chain(others.cloned())
                .take(KEPT_TOKENS)
                .collect::<Vec<_>>()
        });
    }

    /// Returns a redactor for all secrets that were sent.
    pub(super) fn redactor(&self) -> Redactor {
        let tokens = by_name(&self.tokens.load());
        self.sent.load().and(&tokens)
    }
}

/// Returns whether the server responded with 401.
fn is_unauthorized<T>(sent: &Result<T, Failure>) -> bool {
    match sent {
        Err(StreamableHttpError::AuthRequired(_)) => true,
        Err(StreamableHttpError::Client(error)) => {
            error.status() == Some(reqwest::StatusCode::UNAUTHORIZED)
        }
        Err(StreamableHttpError::UnexpectedServerResponse(text)) => {
            // For an answer to a call, the library returns the status only in the text.
            text.starts_with("HTTP 401")
        }
        _ => false,
    }
}
