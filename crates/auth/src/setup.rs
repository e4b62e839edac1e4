//! Setup with the first password or passkey. Both call [`complete_setup`] in the transaction that stores them. If
//! two requests run concurrently, the second one finds that setup is complete and is refused.

use crate::api::{SetupAnswer, SetupRequest};
use crate::audit::kinds;
use crate::error::AuthError;
use crate::identity::STRANGER;
use crate::live_credential::LoginMethod;
use crate::password_hash::check_rules;
use crate::recorded::{Changed, Recorded};
use crate::request_context::{Caller, Outcome};
use crate::sessions::{NewSession, create_session};
use crate::setup_code::{already_complete, check_setup_code};
use crate::state::{AUTH_DISABLED, Auth, AuthInner, Settled, transaction};
use crate::unauthenticated_changes::Reverted;
use gatehouse_domain::{Random, Timestamp};
use gatehouse_store::{Conn, StoreError};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use std::sync::Arc;

/// The setup code that must still be valid in the completing transaction; `None` if none is needed.
pub(crate) type NeededCode = Option<String>;

/// Begins a transaction that completes setup. Fails if setup is complete or the code is no longer valid.
pub(crate) async fn begin_completion(
    conn: &mut Conn,
    code: &NeededCode,
    now: Timestamp,
    random: &dyn Random,
) -> Result<(), AuthError> {
    if Settled::read(conn).await?.facts.setup_complete {
        return Err(already_complete());
    }
    match code {
        Some(code) => check_setup_code(conn, Some(code), now, random)
            .await?
            .into_result(),
        None => Ok(()),
    }
}

/// Completes setup, except for storing the first password or passkey. Deletes the code, enables auth, deletes the
/// credentials and approvals that remote callers created while auth was disabled, and creates a session.
pub(crate) async fn complete_setup(
    conn: &mut Conn,
    session: &NewSession,
    now: Timestamp,
) -> Result<(), StoreError> {
    conn.delete_setup_code().await?;
    conn.update_setting(AUTH_DISABLED, &json!(false), now)
        .await?;
    conn.delete_api_keys(true).await?;
    conn.delete_devices(true).await?;
    conn.delete_allowed_calls_under(STRANGER).await?;
    create_session(conn, session).await?;
    conn.insert_change("auth_state", now).await?;
    conn.insert_change("auth_sessions", now).await?;
    conn.insert_change("auth_devices", now).await?;
    conn.insert_change("auth_api_keys", now).await
}

impl AuthInner {
    /// Applies a committed [`complete_setup`] to memory.
    pub(crate) fn setup_completed(&self, settled: &Settled, session: &NewSession) {
        self.settle(settled);
        self.keys
            .end_where(crate::live_credential::LiveKey::dies_at_setup);
        self.devices
            .end_where(crate::devices::live::LiveDevice::dies_at_setup);
        self.adopt_session(session);
        self.settings_reverted();
        self.announce(&["sessions", "setup", "auth_disabled", "api_keys", "devices"]);
    }
}

impl Auth {
    /// Returns the code that the completing transaction must check; `None` if none is needed.
    pub(crate) fn needed_code(&self, caller: &Caller<'_>, given: Option<&str>) -> NeededCode {
        let needed = self.needs_setup_code(caller.context);
        needed.then(|| given.unwrap_or_default().to_owned())
    }

    /// `POST /api/auth/setup`: stores the first password.
    pub async fn setup(
        &self,
        caller: &Caller<'_>,
        request: SetupRequest,
    ) -> Result<Outcome<SetupAnswer>, AuthError> {
        if self.facts().setup_complete {
            return Err(already_complete());
        }
        let code = request.setup_code.as_ref().map(ExposeSecret::expose_secret);
        self.pass_setup_code(caller.context, code).await?;
        let Some(password) = request.password else {
            return Err(AuthError::field("password", "required"));
        };
        check_rules("password", &password)?;
        let needed = self.needed_code(caller, code);
        self.first_password_completes_setup(caller, password, needed)
            .await
    }

    /// Stores the first password if there is neither a password nor a passkey.
    pub(crate) async fn first_password_completes_setup(
        &self,
        caller: &Caller<'_>,
        password: SecretString,
        code: NeededCode,
    ) -> Result<Outcome<SetupAnswer>, AuthError> {
        let actor = caller.context.actor();
        let hash = self.hash_password(actor.client, &password).await?;
        let plan = Arc::new(
            self.0
                .secrets
                .plan_first_password(&actor, &password)
                .await?,
        );
        let session = Arc::new(self.new_session(caller, LoginMethod::Password));
        let cookies = Self::session_cookies(&session, caller.context)?;
        let (now, random) = (self.0.now(), Arc::clone(&self.0.random));
        let (in_job, in_apply, planned) = (
            Arc::clone(&session),
            Arc::clone(&session),
            Arc::clone(&plan),
        );
        let changed = &[Changed::PASSWORD];
        let recorded = Recorded::new(kinds::SETUP_COMPLETED, actor.clone(), changed);
        let reverted = Reverted::default();
        let in_job_reverted = reverted.clone();
        let job = transaction(move |conn| {
            Box::pin(async move {
                begin_completion(conn, &code, now, &*random).await?;
                if !conn.insert_password_hash(&hash, now).await? {
                    return Err(already_complete());
                }
                planned.apply(conn, now).await?;
                complete_setup(conn, &in_job, now).await?;
                in_job_reverted.revert(conn, &actor, now, &*random).await?;
                let detail = json!({ "by": "password", "session": in_job.id() });
                Ok((detail, Settled::read(conn).await?))
            })
        });
        let apply = move |inner: &AuthInner, settled: &Settled| {
            inner.setup_completed(settled, &in_apply);
        };
        let recovery_key = self.record_with_plan(recorded, job, apply, plan).await?;
        Ok(Outcome {
            body: SetupAnswer {
                ok: true,
                recovery_key,
                settings_reverted: reverted.keys(),
            },
            cookies,
        })
    }
}
