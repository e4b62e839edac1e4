//! Login sessions: create, list, end.

mod end;

use crate::api::{SessionItem, SessionList};
use crate::audit::kinds;
use crate::cookie::{CookieForm, LIFETIME, clear_session, set_session};
use crate::error::AuthError;
use crate::live_credential::{LiveSession, LoginMethod, hash_of, to_hex};
use crate::recorded::{Changed, Recorded};
use crate::request_context::{Caller, RequestContext};
use crate::state::{Auth, AuthInner};
use data_encoding::BASE64URL_NOPAD;
pub(crate) use end::{Ending, end_sessions_of};
use gatehouse_domain::{AuthSessionId, PasskeyId, Scope, Timestamp};
use gatehouse_store::{AuthSessionRow, Conn, StoreError};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use std::sync::Arc;

/// The maximum stored length of a User-Agent, in characters.
const MAX_USER_AGENT: usize = 256;
/// The maximum number of sessions in a list, most recently used first.
const LISTED: i64 = 10_000;

/// A session that is about to start, and the secret for its browser.
pub(crate) struct NewSession {
    row: AuthSessionRow,
    token: SecretString,
}

impl NewSession {
    pub(crate) const fn id(&self) -> &AuthSessionId {
        &self.row.id
    }

    /// Returns the same session with the passkey that opened it.
    pub(crate) fn opened_by(mut self, passkey: UsedPasskey) -> Self {
        self.row.passkey_id = Some(passkey.id);
        self.row.made_by = passkey.made_by;
        self
    }
}

/// The passkey of a login.
pub(crate) struct UsedPasskey {
    pub(crate) id: PasskeyId,
    /// The API key or device that registered the passkey.
    pub(crate) made_by: Option<String>,
}

/// Stores a session. Runs in the transaction of the login.
pub(crate) async fn create_session(
    conn: &mut Conn,
    session: &NewSession,
) -> Result<(), StoreError> {
    conn.insert_auth_session(&session.row).await
}

impl AuthInner {
    /// Loads a committed session into memory.
    pub(crate) fn adopt_session(&self, session: &NewSession) {
        if let Ok(live) = LiveSession::from_row(&session.row) {
            self.sessions.insert(live);
        }
    }
}

impl Auth {
    /// Creates the secret and the row of a session for this caller.
    pub(crate) fn new_session(&self, caller: &Caller<'_>, method: LoginMethod) -> NewSession {
        let now = self.0.now();
        let token = SecretString::from(BASE64URL_NOPAD.encode(&self.0.random.bytes::<32>()));
        let agent = |text: &str| text.chars().take(MAX_USER_AGENT).collect();
        let row = AuthSessionRow {
            id: AuthSessionId::generate(&*self.0.clock, &*self.0.random),
            token_hash: to_hex(&hash_of(token.expose_secret())),
            login_method: method.as_str().to_owned(),
            user_agent: caller.user_agent.map(agent),
            client_ip: Some(caller.context.client.ip.to_string()),
            created_at: now,
            last_seen_at: now,
            expires_at: now.after(LIFETIME),
            confirmed_at: now,
            made_by: None,
            passkey_id: None,
        };
        NewSession { row, token }
    }

    /// Returns the Set-Cookie values that set the session cookie.
    pub(crate) fn session_cookies(
        session: &NewSession,
        context: &RequestContext,
    ) -> Result<Vec<String>, AuthError> {
        let under = |authority: &crate::host::Authority<'_>| authority.host.is_under_localhost();
        let form = CookieForm {
            secure: context.https,
            domain_localhost: context.host.as_ref().is_some_and(under),
        };
        let value = set_session(session.token.expose_secret(), form);
        let text = value.ok().and_then(|v| v.to_str().ok().map(str::to_owned));
        text.map(|line| vec![line])
            .ok_or(AuthError::Internal("the session cookie cannot be encoded"))
    }

    /// Returns the Set-Cookie values that delete the session cookie.
    pub(crate) fn cleared_cookies(context: &RequestContext) -> Vec<String> {
        let lines = clear_session(context.https);
        lines
            .iter()
            .filter_map(|v| v.to_str().ok().map(str::to_owned))
            .collect()
    }

    /// Starts a session after a successful proof. `still_holds` runs in the transaction and fails if the proof is
    /// no longer valid.
    pub(crate) async fn begin_session<J>(
        &self,
        caller: &Caller<'_>,
        method: LoginMethod,
        passkey: Option<UsedPasskey>,
        still_holds: J,
    ) -> Result<Vec<String>, AuthError>
    where
        J: for<'c> FnOnce(&'c mut Conn) -> crate::state::BoxFuture<'c, Result<(), AuthError>>
            + Send
            + 'static,
    {
        let session = self.new_session(caller, method);
        let session = Arc::new(match passkey {
            Some(passkey) => session.opened_by(passkey),
            None => session,
        });
        let cookies = Self::session_cookies(&session, caller.context)?;
        let (actor, in_job) = (caller.context.actor(), Arc::clone(&session));
        self.record(
            Recorded::new(kinds::LOGIN_SUCCEEDED, actor, &[Changed::SESSIONS]),
            move |conn| {
                Box::pin(async move {
                    still_holds(conn).await?;
                    create_session(conn, &in_job).await?;
                    let detail = json!({ "method": method, "session": in_job.id() });
                    Ok((detail, ()))
                })
            },
            move |inner, ()| inner.adopt_session(&session),
        )
        .await?;
        Ok(cookies)
    }

    /// Records in the session that the user was just verified. Returns when the confirmation
    /// expires. Does nothing for API keys and loopback identities.
    pub(crate) async fn renew_confirmation(
        &self,
        context: &RequestContext,
    ) -> Result<Timestamp, AuthError> {
        let now = self.0.now();
        let Some(session) = context.identity()?.as_session() else {
            return Ok(Self::confirmation_ends(now));
        };
        let id = session.id().clone();
        let renewed = self
            .change(
                move |conn| {
                    Box::pin(async move {
                        let renewed = conn.update_auth_session_confirmed(&id, now).await?;
                        conn.insert_change("auth_sessions", now).await?;
                        Ok(renewed)
                    })
                },
                |_, _| {},
            )
            .await?;
        if renewed {
            Ok(Self::confirmation_ends(now))
        } else {
            Err(AuthError::NotAuthenticated)
        }
    }

    /// `GET /api/auth/sessions`.
    pub async fn list_sessions(&self, caller: &Caller<'_>) -> Result<SessionList, AuthError> {
        let identity = caller.context.require(Scope::Read)?;
        let now = self.0.now();
        let rows = self.0.store.read(move |conn| {
            Box::pin(async move { Ok::<_, AuthError>(conn.list_auth_sessions(now, LISTED).await?) })
        });
        let rows = rows.await?;
        let live = self.0.sessions.all();
        let live: std::collections::HashMap<&str, &Arc<LiveSession>> = live
            .iter()
            .map(|session| (session.id().as_str(), session))
            .collect();
        let current = identity.as_session().map(|session| session.id().clone());
        let item = |row: AuthSessionRow| {
            let seen = live
                .get(row.id.as_str())
                .map(|session| session.last_seen_at());
            SessionItem {
                current: current.as_ref() == Some(&row.id),
                id: row.id,
                created_at: row.created_at,
                last_seen_at: seen.map_or(row.last_seen_at, |seen| seen.max(row.last_seen_at)),
                expires_at: row.expires_at,
                confirmed_at: row.confirmed_at,
                login_method: LoginMethod::from_text(&row.login_method),
                user_agent: row.user_agent,
                client_ip: row.client_ip,
                made_by: row.made_by,
            }
        };
        Ok(SessionList {
            sessions: rows.into_iter().map(item).collect(),
        })
    }
}
