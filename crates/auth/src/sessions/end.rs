//! Ends login sessions.

use crate::api::{Done, EndSessionRequest, EndedAnswer};
use crate::audit::kinds;
use crate::error::AuthError;
use crate::lineage::{Descendants, keep_makers_of};
use crate::live_credential::LoginMethod;
use crate::recorded::{Changed, Recorded};
use crate::request_context::{Caller, Outcome, RequestContext};
use crate::state::Auth;
use gatehouse_domain::{AuthSessionId, PasskeyId, Scope, Timestamp};
use gatehouse_store::{AuthSessionRow, Conn, StoreError};
use serde_json::json;

/// Ends the sessions that the passkey opened, except `kept`. Sessions of earlier versions do not record their
/// passkey, so they end with any passkey. Runs in the transaction that removes the passkey. Returns the ended
/// sessions.
pub(crate) async fn end_sessions_of(
    conn: &mut Conn,
    passkey: &PasskeyId,
    kept: Option<&AuthSessionId>,
    now: Timestamp,
) -> Result<Vec<AuthSessionId>, StoreError> {
    let is_opened_by = |row: &AuthSessionRow| match &row.passkey_id {
        Some(id) => id == passkey,
        None => row.login_method == LoginMethod::Passkey.as_str(),
    };
    let mut ended = Vec::new();
    for row in conn.list_auth_sessions(now, i64::MAX).await? {
        if Some(&row.id) != kept && is_opened_by(&row) {
            conn.delete_auth_session(&row.id).await?;
            ended.push(row.id);
        }
    }
    Ok(ended)
}

/// The reason for the early end of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    /// The kind of the audit row.
    pub(crate) kind: &'static str,
    /// Whether to keep the API keys and devices that the session created.
    pub(crate) keep_children: bool,
}

impl Ending {
    /// Ends the credentials that the session created, unless they are to be kept.
    async fn children_of(
        self,
        conn: &mut Conn,
        id: &AuthSessionId,
        now: Timestamp,
    ) -> Result<Descendants, AuthError> {
        if self.keep_children {
            return Ok(Descendants::default());
        }
        Descendants::delete(conn, &format!("session {id}"), now).await
    }

    /// Ends the credentials that all sessions except `kept` created, unless they are to be kept. Credentials that
    /// created `kept` directly or indirectly stay, because `kept` would end with them.
    async fn children_of_others(
        self,
        conn: &mut Conn,
        kept: Option<&AuthSessionId>,
        now: Timestamp,
    ) -> Result<Descendants, AuthError> {
        let mut below = Descendants::default();
        if self.keep_children {
            return Ok(below);
        }
        let rows = conn.list_auth_sessions(now, i64::MAX).await?;
        let ids = rows.into_iter().map(|row| row.id);
        let others: Vec<AuthSessionId> = ids.filter(|id| Some(id) != kept).collect();
        if let Some(kept) = kept {
            keep_makers_of(conn, kept, &others).await?;
        }
        for id in &others {
            below.extend(self.children_of(conn, id, now).await?);
        }
        Ok(below)
    }
}

impl Auth {
    /// `DELETE /api/auth/sessions/{id}`. Also ends the credentials that the session created, unless
    /// they are kept.
    pub async fn end_session(
        &self,
        caller: &Caller<'_>,
        id: &AuthSessionId,
        request: &EndSessionRequest,
    ) -> Result<Outcome<Done>, AuthError> {
        let identity = caller.context.require(Scope::Admin)?;
        let own = identity
            .as_session()
            .is_some_and(|session| session.id() == id);
        let ending = Ending {
            kind: kinds::SESSION_ENDED,
            keep_children: request.keep_children,
        };
        self.delete_session(caller.context, id, ending).await?;
        let mut outcome = Outcome::plain(Done::OK);
        if own {
            outcome.cookies = Self::cleared_cookies(caller.context);
        }
        Ok(outcome)
    }

    pub(crate) async fn delete_session(
        &self,
        context: &RequestContext,
        id: &AuthSessionId,
        ending: Ending,
    ) -> Result<(), AuthError> {
        let (now, in_job, in_apply) = (self.0.now(), id.clone(), id.clone());
        self.record(
            Recorded::new(ending.kind, context.actor(), &[Changed::SESSIONS]),
            move |conn| {
                Box::pin(async move {
                    // Read before the session is deleted, which changes the creator of its credentials.
                    let below = ending.children_of(conn, &in_job, now).await?;
                    if !conn.delete_auth_session(&in_job).await? {
                        return Err(AuthError::NotFound("session"));
                    }
                    let detail = json!({ "session": in_job, "children": below.count() });
                    Ok((detail, below))
                })
            },
            move |inner, below| {
                below.end_in(inner);
                inner
                    .sessions
                    .end_where(|session| *session.id() == in_apply);
            },
        )
        .await
        .map(drop)
    }

    /// `DELETE /api/auth/sessions`: ends all sessions except the caller's own. Also ends the credentials that they
    /// created, unless the request keeps them. The caller's own session always stays, and so do the credentials
    /// that created it.
    pub async fn end_other_sessions(
        &self,
        caller: &Caller<'_>,
        request: &EndSessionRequest,
    ) -> Result<EndedAnswer, AuthError> {
        let identity = caller.context.require(Scope::Admin)?;
        let kept = identity.as_session().map(|session| session.id().clone());
        let (actor, now) = (caller.context.actor(), self.0.now());
        let ending = Ending {
            kind: kinds::SESSIONS_ENDED,
            keep_children: request.keep_children,
        };
        let in_job = kept.clone();
        let (ended, _) = self
            .record(
                Recorded::new(ending.kind, actor, &[Changed::SESSIONS]),
                move |conn| {
                    Box::pin(async move {
                        let below = ending
                            .children_of_others(conn, in_job.as_ref(), now)
                            .await?;
                        let ended = conn.delete_other_auth_sessions(in_job.as_ref()).await?;
                        let sessions = below.count_sessions();
                        let ended = ended.saturating_add(sessions);
                        // Each credential is counted in exactly one of the two numbers.
                        let all = u64::try_from(below.count()).unwrap_or(u64::MAX);
                        let children = all.saturating_sub(sessions);
                        let detail = json!({ "ended": ended, "children": children });
                        Ok((detail, (ended, below)))
                    })
                },
                move |inner, (_, below)| {
                    below.end_in(inner);
                    inner
                        .sessions
                        .end_where(|session| Some(session.id()) != kept.as_ref());
                },
            )
            .await?;
        Ok(EndedAnswer { ok: true, ended })
    }
}
