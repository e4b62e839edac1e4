//! The stored authorization of one server: a row and its secret part.

use super::error::OAuthError;
use super::{Note, OAuth, discovery};
use gatehouse_domain::Timestamp;
use gatehouse_secrets::SecretOwner;
use gatehouse_store::{McpAuthorizationRow, StoreError};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use url::Url;

/// The secret part, stored as JSON.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Secret {
    pub(super) client: Option<Client>,
    pub(super) tokens: Option<Tokens>,
    pub(super) pending: Option<Pending>,
}

/// A client of an authorization server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Client {
    pub(super) id: String,
    pub(super) secret: Option<String>,
    /// `none`, `client_secret_basic` or `client_secret_post`.
    pub(super) auth_method: String,
    pub(super) issuer: String,
    pub(super) redirect_uri: String,
    /// Whether a person entered the client.
    pub(super) is_manual: bool,
    /// When the client's secret expires, in milliseconds.
    pub(super) expires_at: Option<i64>,
}

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Tokens {
    pub(super) access: String,
    pub(super) refresh: Option<String>,
    /// The time from which on a new access token is requested, in milliseconds.
    pub(super) refresh_at: Option<i64>,
    pub(super) server: Server,
    pub(super) client: Client,
}

/// The parts of an authorization server's metadata that are needed later.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Server {
    pub(super) issuer: String,
    pub(super) token_endpoint: Url,
    pub(super) revocation_endpoint: Option<Url>,
    /// The parameter `resource` (RFC 8707).
    pub(super) resource: String,
}

/// An authorization that a person has not completed.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Pending {
    pub(super) state: String,
    pub(super) verifier: String,
    /// The login session that began the authorization.
    pub(super) session: String,
    pub(super) expires_at: i64,
    pub(super) requires_iss: bool,
    pub(super) server: Server,
    pub(super) client: Client,
}

/// A row with its secret part.
pub(super) struct Record {
    pub(super) row: McpAuthorizationRow,
    pub(super) secret: Secret,
}

impl Record {
    /// Returns a record that is not stored.
    pub(super) fn empty(server: &str, url: &Url, now: Timestamp) -> Self {
        Self {
            row: McpAuthorizationRow {
                server: server.to_owned(),
                version: 0,
                resource: discovery::canonical(url),
                issuer: None,
                client_id: None,
                authorized: false,
                expires_at: None,
                error: None,
                value: String::new(),
                encrypted: false,
                claimed_until: None,
                updated_at: now,
            },
            secret: Secret::default(),
        }
    }
}

impl OAuth {
    pub(super) async fn find_row(
        &self,
        server: &str,
    ) -> Result<Option<McpAuthorizationRow>, StoreError> {
        let server = server.to_owned();
        let read = self
            .store
            .read(move |conn| Box::pin(async move { conn.find_mcp_authorization(&server).await }));
        read.await
    }

    pub(super) async fn open(&self, row: McpAuthorizationRow) -> Result<Record, OAuthError> {
        let owner = SecretOwner::McpAuthorization {
            server: row.server.clone(),
        };
        let opened = self
            .secrets
            .open_protected(&owner, row.value.clone(), row.encrypted);
        let opened = opened.await?;
        let secret = serde_json::from_str(opened.expose_secret());
        let secret = secret.map_err(|_| OAuthError::BadAnswer)?;
        Ok(Record { row, secret })
    }

    pub(super) async fn find(&self, server: &str) -> Result<Option<Record>, OAuthError> {
        match self.find_row(server).await? {
            Some(row) => Ok(Some(self.open(row).await?)),
            None => Ok(None),
        }
    }

    /// Saves the record as the next version. Returns `false` if the stored version has changed.
    pub(super) async fn save(&self, record: &Record, ends_claim: bool) -> Result<bool, OAuthError> {
        self.save_with(record, ends_claim, None).await
    }

    /// Saves like [`OAuth::save`], adds a row to the audit log, and notifies other nodes.
    pub(super) async fn save_with(
        &self,
        record: &Record,
        ends_claim: bool,
        note: Option<Note>,
    ) -> Result<bool, OAuthError> {
        let text = serde_json::to_string(&record.secret);
        let text = text.map_err(|_| OAuthError::BadAnswer)?;
        let owner = SecretOwner::McpAuthorization {
            server: record.row.server.clone(),
        };
        let mut row = record.row.clone();
        row.updated_at = self.clock.now();
        let (row, oauth) = (Arc::new(row), self.clone());
        let secrets = vec![(owner, SecretString::from(text))];
        let now = self.clock.now();
        let write = self.secrets.write_protected(secrets, move |conn, formed| {
            let (row, oauth, note) = (Arc::clone(&row), oauth.clone(), note.clone());
            Box::pin(async move {
                let mut row = (*row).clone();
                if let Some(formed) = formed.first() {
                    row.value = formed.value.as_str().to_owned();
                    row.encrypted = formed.encrypted;
                }
                let saved = conn.update_mcp_authorization(&row, ends_claim).await?;
                if let (true, Some((actor, kind))) = (saved, note) {
                    oauth.note(conn, &actor, kind, &row.server).await?;
                    // Other nodes connect with the new tokens.
                    conn.insert_change("settings", now).await?;
                }
                Ok::<_, OAuthError>(saved)
            })
        });
        write.await
    }
}
