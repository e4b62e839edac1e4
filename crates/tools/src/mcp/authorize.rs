//! Connects servers with an account: the operations for people.

use super::handle::Mcp;
use super::oauth::{Authorization, Callback, GivenClient, OAuthError};
use super::other_nodes::Elsewhere;
use gatehouse_config::McpServer;
use gatehouse_domain::Actor;
use gatehouse_store::StoreError;
use std::collections::BTreeMap;
use std::sync::Arc;
use url::Url;

impl Mcp {
    /// Returns the authorization of each server, by name.
    pub async fn authorizations(&self) -> Result<BTreeMap<String, Authorization>, StoreError> {
        let all = self.dependencies.oauth.list().await?;
        Ok(all.into_iter().collect())
    }

    /// Starts an authorization and returns the URL that the person must open. `session` is the login session that may
    /// complete it. `redirect_uri` is the address of the callback.
    pub async fn authorize(
        &self,
        name: &str,
        (session, redirect_uri): (&str, &str),
        client: Option<GivenClient>,
    ) -> Result<String, OAuthError> {
        let url = self.url(name)?;
        let oauth = &self.dependencies.oauth;
        oauth
            .begin((name, &url), (session, redirect_uri), client)
            .await
    }

    /// Completes an authorization and restarts the server. If the exchange fails and there is no earlier authorization,
    /// returns `Ok`: the failure is stored, and the web UI shows it. A returned error is not stored.
    pub async fn finish_authorization(
        &self,
        actor: &Actor,
        name: &str,
        session: &str,
        callback: Callback,
    ) -> Result<(), OAuthError> {
        let url = self.url(name).map_err(|_| OAuthError::NoFlow)?;
        let (oauth, server) = (&self.dependencies.oauth, (name.to_owned(), url));
        let finished = oauth.finish(actor, server, session.to_owned(), callback);
        if finished.await? {
            self.start_again(name);
        }
        Ok(())
    }

    /// Deletes the authorization of a server and restarts the server. Returns whether the authorization server confirmed
    /// that it revoked the tokens.
    pub async fn disconnect(&self, actor: &Actor, name: &str) -> Result<bool, OAuthError> {
        let url = self.url(name)?;
        let oauth = &self.dependencies.oauth;
        let is_revoked = oauth.disconnect(actor, name, &url).await?;
        self.start_again(name);
        if let Err(error) = self.request_elsewhere(Elsewhere::Restart, name).await {
            tracing::warn!(server = name, %error, "cannot request the restart on other nodes");
        }
        Ok(is_revoked)
    }

    /// Disconnects a server that was deleted from the settings, if possible. Its tokens are still valid at the
    /// authorization server.
    pub async fn disconnect_deleted(&self, actor: &Actor, name: &str) {
        let oauth = &self.dependencies.oauth;
        if let Err(error) = oauth.disconnect_deleted(actor, name).await {
            tracing::warn!(server = name, %error, "the tokens of a deleted MCP server were not revoked");
        }
    }

    fn url(&self, name: &str) -> Result<Url, OAuthError> {
        let wanted = Arc::clone(&self.wanted.borrow());
        match wanted.servers.get(name).map(|server| &**server) {
            Some(McpServer::Url { url, .. }) => Ok(url.clone()),
            Some(McpServer::Command { .. }) => Err(OAuthError::NotHttp),
            None => Err(OAuthError::NotFound),
        }
    }
}
