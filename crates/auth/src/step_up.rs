//! The requirements for a change: the scope, and for dangerous changes a recent confirmation.

use crate::audit::kinds;
use crate::error::{AuthError, CONFIRMATION_SECONDS};
use crate::identity::{AuthIdentity, Subject};
use crate::live_credential::{Live, LiveSession, to_hex};
use crate::request_context::Caller;
use crate::state::Auth;
use gatehouse_domain::{Problem, Scope, Timestamp};
use secrecy::SecretString;
use std::time::Duration;

impl Auth {
    /// Fails unless the identity has the scope.
    pub fn require_scope(&self, identity: &AuthIdentity, scope: Scope) -> Result<(), Problem> {
        if identity.allows(scope) {
            Ok(())
        } else {
            Err(AuthError::ScopeMissing(scope).into())
        }
    }

    /// Fails unless the identity has a recent confirmation or needs none. Reads the confirmation of a
    /// session from the database.
    pub async fn require_step_up(&self, identity: &AuthIdentity) -> Result<(), Problem> {
        Ok(self.require_confirmed(identity).await?)
    }

    /// Like [`Auth::require_step_up`].
    pub(crate) async fn require_confirmed(&self, identity: &AuthIdentity) -> Result<(), AuthError> {
        if self.is_kept_from_step_up(identity) {
            Err(AuthError::NotForKeys)
        } else if self.is_confirmed(identity).await? {
            Ok(())
        } else {
            Err(AuthError::ConfirmationRequired)
        }
    }

    /// Returns whether the identity is an API key or a device that `auth.step_up_for_keys` excludes from operations
    /// that require a confirmation. This applies even if `auth.step_up` is off.
    fn is_kept_from_step_up(&self, identity: &AuthIdentity) -> bool {
        let is_key = matches!(identity.subject, Subject::ApiKey(_) | Subject::Device(_));
        is_key && self.0.settings.load().given.step_up_for_keys
    }

    /// Returns when a confirmation given at this time expires.
    pub(crate) fn confirmation_ends(confirmed_at: Timestamp) -> Timestamp {
        confirmed_at.after(Duration::from_secs(CONFIRMATION_SECONDS))
    }

    async fn is_confirmed(&self, identity: &AuthIdentity) -> Result<bool, AuthError> {
        if !self.0.settings.load().given.step_up {
            return Ok(true);
        }
        let recent = |at| self.0.now() <= Self::confirmation_ends(at);
        Ok(match &identity.subject {
            Subject::LoopbackDisabled { .. } | Subject::LoopbackSetup => true,
            Subject::ApiKey(key) => key.scopes().allows(Scope::Admin),
            Subject::Device(presence) => presence.device().scopes().allows(Scope::Admin),
            Subject::Session(session) => recent(self.confirmed_at(session).await?),
            Subject::SocketPassword { since, .. } => recent(*since),
        })
    }

    /// Returns when the session was confirmed, according to the database, because other nodes and programs change
    /// the value there.
    async fn confirmed_at(&self, session: &LiveSession) -> Result<Timestamp, AuthError> {
        let hash = to_hex(session.hash());
        let row = self.0.store.read(move |conn| {
            Box::pin(async move { Ok::<_, AuthError>(conn.find_auth_session(&hash).await?) })
        });
        let row = row.await?.ok_or(AuthError::NotAuthenticated)?;
        Ok(row.confirmed_at)
    }

    /// Like [`Auth::require_step_up`], but also accepts the correct login password in the same
    /// request.
    pub(crate) async fn step_up_with(
        &self,
        caller: &Caller<'_>,
        password: Option<&SecretString>,
    ) -> Result<(), AuthError> {
        let identity = caller.context.identity()?;
        let Err(refusal) = self.require_confirmed(identity).await else {
            return Ok(());
        };
        let (AuthError::ConfirmationRequired, Some(password)) = (&refusal, password) else {
            return Err(refusal);
        };
        if self
            .check_password(caller.context, password)
            .await?
            .is_none()
        {
            self.note_failure(kinds::CONFIRM_FAILED, &caller.context.actor())
                .await;
            return Err(AuthError::ConfirmationRequired);
        }
        self.renew_confirmation(caller.context).await.map(drop)
    }
}
