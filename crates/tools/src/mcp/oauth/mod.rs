//! OAuth for MCP servers behind a URL (MCP 2025-06-18, "Authorization"): authorization code with PKCE, resource
//! indicators, and dynamic registration if the server offers it.
//!
//! Each server has one row, which the nodes share. Its version changes with every change of the grant. No node
//! overwrites a version that it has not read. One node claims a refresh and runs it in a task of the gateway, so a
//! rotated refresh token is not lost if the caller disconnects.

mod begin;
mod challenge;
mod discovery;
mod error;
mod finish;
mod http;
mod record;
mod refresh;
mod tokens;

pub use begin::GivenClient;
pub use error::OAuthError;
pub use finish::Callback;
pub(super) use refresh::Token;

use crate::register::ToolsParts;
use gatehouse_domain::{Actor, Clock, Random, Timestamp};
use gatehouse_outbound::Outbound;
use gatehouse_secrets::{Secrets, SecretsError};
use gatehouse_store::{AuditEntry, Conn, McpAuthorizationRow, Store, StoreError, inherit};
use http::Http;
use serde_json::json;
use std::sync::{Arc, OnceLock};
use tokio_util::task::TaskTracker;
use url::Url;

/// The authorizations of all servers. Cheap to clone.
#[derive(Clone)]
pub(super) struct OAuth {
    outbound: Outbound,
    secrets: Secrets,
    store: Store,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    /// The tasks for work that must not end with its caller.
    tasks: Arc<OnceLock<TaskTracker>>,
}

/// The actor and the kind of an audit row.
pub(super) type Note = (Actor, &'static str);

/// The state of a server's authorization. Contains no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorization {
    /// The canonical URI of the MCP server of this authorization.
    resource: String,
    pub issuer: Option<String>,
    /// The client that a person entered.
    pub client_id: Option<String>,
    /// Whether there are tokens.
    pub is_authorized: bool,
    pub expires_at: Option<Timestamp>,
    /// When the authorization was last stored, with or without new tokens.
    pub changed_at: Timestamp,
    /// Why the last request for tokens failed.
    pub error: Option<String>,
}

impl Authorization {
    /// Returns whether the authorization belongs to the MCP server at this URL.
    pub fn is_for(&self, url: &Url) -> bool {
        self.resource == discovery::canonical(url)
    }
}

impl From<McpAuthorizationRow> for Authorization {
    fn from(row: McpAuthorizationRow) -> Self {
        Self {
            resource: row.resource,
            issuer: row.issuer,
            client_id: row.client_id,
            is_authorized: row.authorized,
            expires_at: row.expires_at,
            changed_at: row.updated_at,
            error: row.error,
        }
    }
}

impl OAuth {
    pub(super) fn new(parts: &ToolsParts) -> Self {
        Self {
            outbound: parts.outbound.clone(),
            secrets: parts.secrets.clone(),
            store: parts.store.clone(),
            clock: Arc::clone(&parts.clock),
            random: Arc::clone(&parts.random),
            tasks: Arc::default(),
        }
    }

    /// Sets the gateway's task tracker, which shutdown waits for.
    pub(super) fn background(&self, tasks: &TaskTracker) {
        drop(self.tasks.set(tasks.clone()));
    }

    /// Runs a future to its end, even if the caller disconnects.
    async fn to_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, OAuthError>> + Send + 'static,
    ) -> Result<T, OAuthError> {
        let tasks = self.tasks.get_or_init(TaskTracker::new);
        let done = tasks.spawn(work).await;
        done.map_err(|_| OAuthError::Stopping)?
    }

    fn http(&self, server: &Url) -> Http {
        Http {
            outbound: self.outbound.clone(),
            server: server.clone(),
        }
    }

    /// Lists the authorization of every server, by name.
    pub(super) async fn list(&self) -> Result<Vec<(String, Authorization)>, StoreError> {
        let read = self
            .store
            .read(|conn| Box::pin(async move { conn.list_mcp_authorizations().await }));
        let rows = read.await?.into_iter();
        Ok(rows
            .map(|row| (row.server.clone(), Authorization::from(row)))
            .collect())
    }

    /// Deletes the authorization of a server, then requests that its authorization server revoke the tokens. Returns
    /// whether that server confirmed the revocation.
    pub(super) async fn disconnect(
        &self,
        actor: &Actor,
        server: &str,
        url: &Url,
    ) -> Result<bool, OAuthError> {
        let (oauth, server, http) = (self.clone(), server.to_owned(), self.http(url));
        let note: Option<Note> = Some((actor.clone(), "mcp.disconnected"));
        let work = async move {
            loop {
                let record = match oauth.find(&server).await {
                    Ok(Some(record)) => record,
                    Ok(None) => return Ok(false),
                    // There is no readable token to revoke.
                    Err(OAuthError::BadAnswer | OAuthError::Secrets(SecretsError::Damaged(_))) => {
                        oauth.forget(&server, note).await?;
                        return Ok(false);
                    }
                    Err(error) => return Err(error),
                };
                let version = record.row.version;
                if !oauth.delete(&server, version, note.clone()).await? {
                    // Another request has saved a change in between.
                    continue;
                }
                return Ok(match &record.secret.tokens {
                    Some(tokens) => tokens::revoke(&http, tokens).await,
                    None => false,
                });
            }
        };
        self.to_the_end(inherit(work)).await
    }

    /// Disconnects like [`OAuth::disconnect`], for a server whose URL was removed from the
    /// settings.
    pub(super) async fn disconnect_deleted(
        &self,
        actor: &Actor,
        server: &str,
    ) -> Result<(), OAuthError> {
        let Some(row) = self.find_row(server).await? else {
            return Ok(());
        };
        let url = Url::parse(&row.resource).map_err(|_| OAuthError::BadAnswer)?;
        self.disconnect(actor, server, &url).await.map(drop)
    }

    /// Deletes the authorization of a server without revoking it.
    pub(super) async fn forget(&self, server: &str, note: Option<Note>) -> Result<(), StoreError> {
        match self.find_row(server).await? {
            Some(row) => self.delete(server, row.version, note).await.map(drop),
            None => Ok(()),
        }
    }

    async fn delete(
        &self,
        server: &str,
        version: i64,
        note: Option<Note>,
    ) -> Result<bool, StoreError> {
        let (oauth, server) = (self.clone(), server.to_owned());
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                let deleted = conn.delete_mcp_authorization(&server, Some(version));
                let deleted = deleted.await?;
                if deleted {
                    if let Some((actor, kind)) = note {
                        oauth.note(conn, &actor, kind, &server).await?;
                    }
                    conn.insert_change("settings", oauth.clock.now()).await?;
                }
                Ok(deleted)
            })
        });
        write.await
    }

    /// Writes an audit row in the transaction of the change.
    async fn note(
        &self,
        conn: &mut Conn,
        actor: &Actor,
        kind: &'static str,
        server: &str,
    ) -> Result<(), StoreError> {
        let entry = AuditEntry {
            kind,
            actor,
            detail: json!({ "server": server }),
        };
        let written = conn.append_audit(&entry, self.clock.now(), &*self.random);
        written.await.map(drop)
    }
}
