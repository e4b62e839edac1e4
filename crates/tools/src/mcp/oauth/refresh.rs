//! Provides the access token for a request. One node refreshes it.

mod save;

use super::OAuth;
use super::discovery::canonical;
use super::error::OAuthError;
use super::record::{Record, Tokens};
use super::tokens;
use gatehouse_domain::{Actor, Timestamp};
use gatehouse_store::StoreError;
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;
use tokio::time::sleep;
use url::Url;

/// The lifetime of a claim. It is longer than a token request takes, even if the clocks of two nodes differ by two
/// minutes.
const CLAIM: Duration = Duration::from_mins(5);
/// The interval at which a node checks whether the node with the claim has finished.
const LOOK: Duration = Duration::from_millis(200);
/// The maximum number of checks. It covers the expiry of a claim and a refresh by another node.
const LOOKS: usize = 1800;

/// An access token.
#[derive(Clone)]
pub(in super::super) struct Token {
    pub(in super::super) access: SecretString,
    version: i64,
    /// Whether an error is stored that a successful request would clear.
    pub(in super::super) has_error: bool,
}

impl OAuth {
    /// Returns the access token for the server at this URL, or `None` if it has no authorization. `rejected` is a token
    /// that the server has just refused.
    pub(in super::super) async fn token(
        &self,
        name: &str,
        url: &Url,
        rejected: Option<&Token>,
    ) -> Result<Option<Token>, OAuthError> {
        let mut is_refreshed = false;
        for _ in 0..LOOKS {
            let Some(row) = self.find_row(name).await? else {
                return Ok(None);
            };
            if row.resource != canonical(url) {
                // The tokens belong to a server that was at another URL.
                self.delete(name, row.version, None).await?;
                return Ok(None);
            }
            if !row.authorized {
                return Ok(None);
            }
            let record = self.open(row).await?;
            let tokens = record.secret.tokens.as_ref();
            let tokens = tokens.ok_or(OAuthError::NotAuthorized)?;
            let now = self.clock.now();
            let is_rejected =
                rejected.is_some_and(|old| old.access.expose_secret() == tokens.access);
            let is_due = tokens.refresh_at.is_some_and(|at| at <= now.as_millis());
            let is_usable = !is_rejected && (!is_due || tokens.refresh.is_none());
            // The server may return the same access token. Another refresh would not change that.
            if is_refreshed || is_usable {
                return Ok(Some(token(&record, tokens)));
            }
            if tokens.refresh.is_none() {
                let text = OAuthError::Expired.text();
                self.set_error(name, record.row.version, Some(text), false)
                    .await;
                return Err(OAuthError::Expired);
            }
            let still_valid = record.row.expires_at.is_some_and(|at| at > now);
            let usable = (!is_rejected && still_valid).then(|| token(&record, tokens));
            if self.claim(&record, now).await? {
                let (oauth, http) = (self.clone(), self.http(url));
                let done = self.to_the_end(async move { oauth.refresh(&http, record).await });
                match (done.await, usable) {
                    (Ok(()), _) => {
                        is_refreshed = true;
                        continue;
                    }
                    (Err(OAuthError::InvalidGrant), _) => return Err(OAuthError::InvalidGrant),
                    (Err(_), Some(token)) => return Ok(Some(token)),
                    (Err(error), None) => return Err(error),
                }
            }
            if usable.is_some() {
                return Ok(usable);
            }
            sleep(LOOK).await;
        }
        Err(OAuthError::Changed)
    }

    /// Records that the server refused a newly issued token.
    pub(in super::super) async fn refused(&self, name: &str, token: &Token) {
        let text = OAuthError::TokenRefused.text();
        self.set_error(name, token.version, Some(text), false).await;
    }

    /// Records that the token works.
    pub(in super::super) async fn works(&self, name: &str, token: &Token) {
        self.set_error(name, token.version, None, false).await;
    }

    async fn set_error(&self, name: &str, version: i64, error: Option<String>, ends_claim: bool) {
        let (name, now) = (name.to_owned(), self.clock.now());
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                let of = (name.as_str(), version);
                conn.update_mcp_authorization_error(of, error.as_deref(), ends_claim, now)
                    .await
            })
        });
        let written: Result<bool, StoreError> = write.await;
        if let Err(error) = written {
            tracing::warn!(%error, "the state of an MCP server's authorization was not stored");
        }
    }

    async fn claim(&self, record: &Record, now: Timestamp) -> Result<bool, StoreError> {
        let (name, version) = (record.row.server.clone(), record.row.version);
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                conn.claim_mcp_authorization((&name, version), now, now.after(CLAIM))
                    .await
            })
        });
        write.await
    }

    /// Exchanges the refresh token. The caller must have the claim.
    async fn refresh(&self, http: &super::Http, record: Record) -> Result<(), OAuthError> {
        let name = record.row.server.clone();
        let tokens = record.secret.tokens.as_ref();
        let tokens = tokens.ok_or(OAuthError::NotAuthorized)?.clone();
        let refresh = tokens.refresh.clone().ok_or(OAuthError::Expired)?;
        let form = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh.as_str()),
        ];
        let asked = tokens::request(http, &tokens.server, &tokens.client, &form).await;
        match asked {
            Ok(granted) => self.keep(http, &name, &tokens, granted).await,
            Err(OAuthError::InvalidGrant) => {
                tracing::warn!(server = name, "an MCP server's authorization has ended");
                self.end(record).await?;
                Err(OAuthError::InvalidGrant)
            }
            Err(error) => {
                tracing::warn!(server = name, %error, "an MCP server's token was not refreshed");
                let version = record.row.version;
                self.set_error(&name, version, Some(error.text()), true)
                    .await;
                Err(error)
            }
        }
    }

    /// Deletes tokens that the authorization server no longer accepts. Keeps the client.
    async fn end(&self, mut record: Record) -> Result<(), OAuthError> {
        record.secret.tokens = None;
        record.row.authorized = false;
        record.row.expires_at = None;
        record.row.error = Some(OAuthError::InvalidGrant.text());
        let note = Some((Actor::system(), "mcp.authorization_ended"));
        // If another request has saved in between, its record is newer, and nothing is saved here.
        self.save_with(&record, true, note).await.map(drop)
    }
}

fn token(record: &Record, tokens: &Tokens) -> Token {
    Token {
        access: SecretString::from(tokens.access.as_str()),
        version: record.row.version,
        has_error: record.row.error.is_some(),
    }
}
