//! Changes the password, or sets the first one after setup by passkey.

use crate::api::{PasswordChangeRequest, SetupAnswer};
use crate::audit::kinds;
use crate::error::AuthError;
use crate::lineage::require_no_limits;
use crate::password_check::VerifiedHash;
use crate::password_hash::check_rules;
use crate::recorded::{Changed, Recorded};
use crate::request_context::{Caller, Outcome};
use crate::state::{Auth, AuthInner, Settled, transaction};
use gatehouse_domain::Scope;
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use std::sync::Arc;

const CHANGED_MEANWHILE: AuthError =
    AuthError::Conflict("The password was changed by another request. Try again.");

impl Auth {
    /// `POST /api/auth/password/change`.
    pub async fn change_password(
        &self,
        caller: &Caller<'_>,
        request: PasswordChangeRequest,
    ) -> Result<Outcome<SetupAnswer>, AuthError> {
        caller.context.require(Scope::Admin)?;
        let facts = self.facts();
        if !facts.setup_complete {
            let code = request.setup_code.as_ref().map(ExposeSecret::expose_secret);
            self.pass_setup_code(caller.context, code).await?;
            check_rules("new_password", &request.new_password)?;
            let needed = self.needed_code(caller, code);
            return self
                .first_password_completes_setup(caller, request.new_password, needed)
                .await;
        }
        if !facts.has_password {
            return self.add_password(caller, request.new_password).await;
        }
        let Some(current) = request.current_password else {
            return Err(AuthError::field("current_password", "required"));
        };
        let Some(verified) = self.check_password(caller.context, &current).await? else {
            self.note_failure(kinds::PASSWORD_CHANGE_FAILED, &caller.context.actor())
                .await;
            return Err(AuthError::InvalidCredentials);
        };
        check_rules("new_password", &request.new_password)?;
        self.replace_password(caller, &current, request.new_password, verified)
            .await
    }

    /// Sets the first password when passkeys exist. Requires a recent confirmation.
    async fn add_password(
        &self,
        caller: &Caller<'_>,
        password: SecretString,
    ) -> Result<Outcome<SetupAnswer>, AuthError> {
        require_no_limits(caller.context.identity()?)?;
        self.require_confirmed(caller.context.identity()?).await?;
        check_rules("new_password", &password)?;
        let actor = caller.context.actor();
        let hash = self.hash_password(actor.client, &password).await?;
        let plan = Arc::new(
            self.0
                .secrets
                .plan_first_password(&actor, &password)
                .await?,
        );
        let recorded = Recorded::new(kinds::PASSWORD_SET, actor, &[Changed::PASSWORD]);
        let (now, planned) = (self.0.now(), Arc::clone(&plan));
        let job = transaction(move |conn| {
            Box::pin(async move {
                // If the credentials were reset in the meantime, a first password would complete setup, for which
                // other rules apply.
                if !Settled::read(conn).await?.facts.has_passkeys
                    || !conn.insert_password_hash(&hash, now).await?
                {
                    return Err(CHANGED_MEANWHILE);
                }
                planned.apply(conn, now).await?;
                Ok((json!({}), Settled::read(conn).await?))
            })
        });
        let recovery_key = self
            .record_with_plan(recorded, job, AuthInner::settle, plan)
            .await?;
        Ok(Outcome::plain(SetupAnswer {
            ok: true,
            recovery_key,
            settings_reverted: Vec::new(),
        }))
    }

    /// Changes the password. Ends all other sessions, and sockets that sent the old password.
    /// Counts as a confirmation, because the old password was verified.
    async fn replace_password(
        &self,
        caller: &Caller<'_>,
        current: &SecretString,
        password: SecretString,
        verified: VerifiedHash,
    ) -> Result<Outcome<SetupAnswer>, AuthError> {
        let actor = caller.context.actor();
        let hash = self.hash_password(actor.client, &password).await?;
        let secrets = &self.0.secrets;
        let plan = Arc::new(
            secrets
                .plan_password_change(&actor, current, &password)
                .await?,
        );
        let changed = &[Changed::PASSWORD, Changed::SESSIONS];
        let recorded = Recorded::new(kinds::PASSWORD_CHANGED, actor, changed);
        let kept = caller.context.identity()?.as_session().cloned();
        let kept_id = kept.as_ref().map(|session| session.id().clone());
        let (now, planned) = (self.0.now(), Arc::clone(&plan));
        let job = transaction(move |conn| {
            Box::pin(async move {
                if !conn.update_password_hash(&verified, &hash, now).await? {
                    return Err(CHANGED_MEANWHILE);
                }
                planned.apply(conn, now).await?;
                let ended = conn.delete_other_auth_sessions(kept_id.as_ref()).await?;
                if let Some(id) = &kept_id {
                    conn.update_auth_session_confirmed(id, now).await?;
                }
                let detail = json!({ "sessions_ended": ended });
                Ok((detail, Settled::read(conn).await?))
            })
        });
        let apply = move |inner: &AuthInner, settled: &Settled| {
            inner.settle(settled);
            let kept_id = kept.as_ref().map(|session| session.id());
            inner
                .sessions
                .end_where(|session| Some(session.id()) != kept_id);
        };
        let recovery_key = self.record_with_plan(recorded, job, apply, plan).await?;
        Ok(Outcome::plain(SetupAnswer {
            ok: true,
            recovery_key,
            settings_reverted: Vec::new(),
        }))
    }
}
