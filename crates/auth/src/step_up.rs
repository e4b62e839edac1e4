//! The requirements for a change: the scope, and for dangerous changes a recent confirmation.

use crate::audit::kinds;
use crate::error::{AuthError, CONFIRMATION_SECONDS};
use crate::identity::{AuthIdentity, Subject};
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

    /// Fails unless the identity has a recent confirmation or needs none.
    pub fn require_step_up(&self, identity: &AuthIdentity) -> Result<(), Problem> {
        if self.is_confirmed(identity) {
            Ok(())
        } else if self.is_kept_from_step_up(identity) {
            Err(AuthError::NotForKeys.into())
        } else {
            Err(AuthError::ConfirmationRequired.into())
        }
    }

    /// Whether the identity is an API key or a device that `auth.step_up_for_keys` excludes from
    /// operations that require a confirmation. `auth.step_up` does not lift this.
    fn is_kept_from_step_up(&self, identity: &AuthIdentity) -> bool {
        let is_key = matches!(identity.subject, Subject::ApiKey(_) | Subject::Device(_));
        is_key && self.0.settings.load().given.step_up_for_keys
    }

    /// When a confirmation given at this time expires.
    pub(crate) fn confirmation_ends(confirmed_at: Timestamp) -> Timestamp {
        confirmed_at.after(Duration::from_secs(CONFIRMATION_SECONDS))
    }

    pub(crate) fn is_confirmed(&self, identity: &AuthIdentity) -> bool {
        if self.is_kept_from_step_up(identity) {
            return false;
        }
        if !self.0.settings.load().given.step_up {
            return true;
        }
        let recent = |at| self.0.now() <= Self::confirmation_ends(at);
        match &identity.subject {
            Subject::LoopbackDisabled { .. } | Subject::LoopbackSetup => true,
            Subject::ApiKey(key) => key.scopes().allows(Scope::Admin),
            Subject::Device(presence) => presence.device().scopes().allows(Scope::Admin),
            Subject::Session(session) => recent(session.confirmed_at()),
            Subject::SocketPassword { since, .. } => recent(*since),
        }
    }

    /// Like [`Auth::require_step_up`], but also accepts the correct login password in the same
    /// request.
    pub(crate) async fn step_up_with(
        &self,
        caller: &Caller<'_>,
        password: Option<&SecretString>,
    ) -> Result<(), AuthError> {
        let identity = caller.context.identity()?;
        if self.is_confirmed(identity) {
            return Ok(());
        }
        if self.is_kept_from_step_up(identity) {
            return Err(AuthError::NotForKeys);
        }
        let Some(password) = password else {
            return Err(AuthError::ConfirmationRequired);
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
