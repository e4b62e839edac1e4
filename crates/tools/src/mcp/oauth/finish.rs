//! Completes an authorization after the authorization server has redirected the browser back.

use super::OAuth;
use super::discovery::canonical;
use super::error::OAuthError;
use super::http::Http;
use super::record::{Pending, Record, Tokens};
use super::tokens::{self, Granted, error_code};
use gatehouse_domain::{Actor, Timestamp};
use gatehouse_store::inherit;
use serde::Deserialize;
use subtle::ConstantTimeEq;
use url::Url;

/// The parameters of the redirect (OAuth 2.1, section 4.1.2; RFC 9207).
#[derive(Deserialize)]
pub struct Callback {
    pub state: Option<String>,
    pub code: Option<String>,
    pub error: Option<String>,
    pub iss: Option<String>,
}

impl OAuth {
    /// Exchanges the code for tokens. Each state works once, and only in the login session that began it. Returns
    /// whether there are tokens. If not, the reason is stored for the web UI. An error is not stored.
    pub(in super::super) async fn finish(
        &self,
        actor: &Actor,
        (name, url): (String, Url),
        session: String,
        callback: Callback,
    ) -> Result<bool, OAuthError> {
        let (oauth, actor) = (self.clone(), actor.clone());
        let work = async move {
            let record = oauth.find(&name).await?;
            let record = record.filter(|it| it.row.resource == canonical(&url));
            let record = record.ok_or(OAuthError::NoFlow)?;
            let (mut record, pending) = oauth.take(record, &session, &callback).await?;
            match oauth.exchange(&url, &pending, callback).await {
                Ok(granted) => {
                    let http = oauth.http(&url);
                    oauth
                        .grant(&actor, record, &pending, granted, &http)
                        .await?;
                    Ok(true)
                }
                // The earlier tokens still work, so they are kept.
                Err(error) if record.row.authorized => Err(error),
                Err(error) => {
                    record.row.error = Some(error.text());
                    // If another request has saved a newer state, this failure is dropped.
                    oauth.save(&record, false).await?;
                    Ok(false)
                }
            }
        };
        self.to_the_end(inherit(work)).await
    }

    /// Removes the pending authorization if the answer belongs to it.
    async fn take(
        &self,
        mut record: Record,
        session: &str,
        callback: &Callback,
    ) -> Result<(Record, Pending), OAuthError> {
        let now = self.clock.now().as_millis();
        let state = callback.state.as_deref().unwrap_or_default();
        let fits = |pending: &Pending| {
            let is_state: bool = pending.state.as_bytes().ct_eq(state.as_bytes()).into();
            is_state && pending.session == session && pending.expires_at > now
        };
        if !record.secret.pending.as_ref().is_some_and(fits) {
            return Err(OAuthError::NoFlow);
        }
        let pending = record.secret.pending.take().ok_or(OAuthError::NoFlow)?;
        if !self.save(&record, false).await? {
            return Err(OAuthError::NoFlow);
        }
        record.row.version += 1;
        Ok((record, pending))
    }

    async fn exchange(
        &self,
        url: &Url,
        pending: &Pending,
        callback: Callback,
    ) -> Result<Granted, OAuthError> {
        let issuer = &pending.server.issuer;
        let is_other = callback.iss.as_ref().is_some_and(|iss| iss != issuer);
        if is_other || (pending.requires_iss && callback.iss.is_none()) {
            return Err(OAuthError::WrongIssuer);
        }
        match callback.error.as_deref() {
            Some("access_denied") => return Err(OAuthError::Denied),
            Some(code) => {
                let code = error_code(code).unwrap_or_else(|| "unknown error".to_owned());
                return Err(OAuthError::Refused(code));
            }
            None => {}
        }
        let code = callback.code.ok_or(OAuthError::BadAnswer)?;
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("redirect_uri", &pending.client.redirect_uri),
            ("code_verifier", &pending.verifier),
        ];
        let http = self.http(url);
        match tokens::request(&http, &pending.server, &pending.client, &form).await {
            // The code was not accepted. No earlier grant is lost.
            Err(OAuthError::InvalidGrant) => Err(OAuthError::Refused("invalid_grant".to_owned())),
            other => other,
        }
    }

    async fn grant(
        &self,
        actor: &Actor,
        record: Record,
        pending: &Pending,
        granted: Granted,
        http: &Http,
    ) -> Result<(), OAuthError> {
        let of = (pending.server.clone(), pending.client.clone());
        let (tokens, expires_at) = granted.tokens(self.clock.now(), of, None);
        let stored = self.store_grant(actor, record, pending, (&tokens, expires_at));
        let stored = stored.await;
        if stored.is_err() {
            // These tokens will not be used, so they are revoked.
            tokens::revoke(http, &tokens).await;
        }
        stored
    }

    async fn store_grant(
        &self,
        actor: &Actor,
        mut record: Record,
        pending: &Pending,
        (tokens, expires_at): (&Tokens, Option<Timestamp>),
    ) -> Result<(), OAuthError> {
        loop {
            record.row.authorized = true;
            record.row.expires_at = expires_at;
            record.row.error = None;
            record.secret.tokens = Some(tokens.clone());
            let note = Some((actor.clone(), "mcp.authorized"));
            if self.save_with(&record, true, note).await? {
                return Ok(());
            }
            // In between, a refresh of the earlier tokens was saved, or another authorization was
            // started.
            let now = self.find(&record.row.server).await?;
            let same = |it: &Record| it.secret.client.as_ref() == Some(&pending.client);
            record = now.filter(same).ok_or(OAuthError::Changed)?;
        }
    }
}
