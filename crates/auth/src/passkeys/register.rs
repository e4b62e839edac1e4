//! Registration of a passkey, by a confirmed user or as the first credential.

use super::api::{CeremonyBegun, PasskeyMade, RegisterBeginRequest, RegisterFinishRequest};
use super::challenge::Purpose;
use super::list::check_name;
use crate::audit::kinds;
use crate::error::AuthError;
use crate::identity::AuthIdentity;
use crate::lineage::{lasting_maker, require_no_limits};
use crate::live_credential::LoginMethod;
use crate::recorded::{Changed, Recorded};
use crate::request_context::{Caller, Outcome};
use crate::sessions::UsedPasskey;
use crate::setup::{NeededCode, begin_completion, complete_setup};
use crate::state::{Auth, AuthInner, Settled, transaction};
use crate::unauthenticated_changes::Reverted;
use data_encoding::HEXLOWER;
use gatehouse_domain::{PasskeyId, Scope};
use gatehouse_store::{Conn, PasskeyRow, StoreError};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::sync::Arc;

/// The key of the row in the table `settings` with the user ID under which authenticators store this instance's
/// passkeys. The ID is random, so two instances on one host name do not overwrite each other's passkeys.
const USER_HANDLE: &str = "auth_user_handle";

impl Auth {
    /// `POST /api/auth/passkey/register/begin`.
    pub async fn passkey_register_begin(
        &self,
        caller: &Caller<'_>,
        request: RegisterBeginRequest,
        origin: Option<&str>,
    ) -> Result<CeremonyBegun, AuthError> {
        let code = request.setup_code.as_ref().map(ExposeSecret::expose_secret);
        self.may_register(caller, code).await?;
        let (rp_id, party) = self.relying_party(caller.context, origin)?;
        let existing: Vec<String> = self
            .passkey_rows()
            .await?
            .into_iter()
            .filter(|row| row.rp_id == rp_id)
            .map(|row| row.credential)
            .collect();
        let begun = party.begin_registration(self.user_handle().await?, &existing)?;
        self.keep_challenge(caller.context, Purpose::Register, rp_id, begun)
            .await
    }

    /// `POST /api/auth/passkey/register/finish`.
    pub async fn passkey_register_finish(
        &self,
        caller: &Caller<'_>,
        request: RegisterFinishRequest,
    ) -> Result<Outcome<PasskeyMade>, AuthError> {
        let code = request.setup_code.as_ref().map(ExposeSecret::expose_secret);
        let maker = self.may_register(caller, code).await?;
        let name = check_name(&request.name)?;
        let needed = self.needed_code(caller, code);
        let challenge = self
            .claim_challenge(request.challenge_id, Purpose::Register)
            .await?;
        let challenge = challenge
            .ok_or_else(|| AuthError::field("challenge_id", "expired, used or unknown"))?;
        let party = self.party_of(caller.context, &challenge.rp_id)?;
        let made = party.finish_registration(&challenge.state, request.credential);
        let made = made.map_err(|error| match AuthError::from(error) {
            // This is not a login, so the error must name the refused credential.
            AuthError::InvalidCredentials => {
                AuthError::field("credential", "the authenticator's response was refused")
            }
            other => other,
        })?;
        let row = PasskeyRow {
            id: PasskeyId::generate(&*self.0.clock, &*self.0.random),
            credential_id: made.credential_id,
            credential: made.credential,
            name,
            rp_id: challenge.rp_id,
            created_at: self.0.now(),
            last_used_at: None,
            // The transaction sets this field.
            made_by: None,
        };
        self.store_passkey(caller, row, maker.cloned(), needed)
            .await
    }

    /// Checks whether the caller may add a passkey. While setup is incomplete, the caller needs the setup code or a
    /// local connection. After setup, the caller must be an administrator with a recent confirmation. Returns the
    /// administrator; `None` if the registration completes setup. The transaction must find the same state.
    async fn may_register<'a>(
        &self,
        caller: &Caller<'a>,
        code: Option<&str>,
    ) -> Result<Option<&'a AuthIdentity>, AuthError> {
        if !self.facts().setup_complete {
            self.pass_setup_code(caller.context, code).await?;
            return Ok(None);
        }
        let identity = caller.context.require(Scope::Admin)?;
        require_no_limits(identity)?;
        self.require_confirmed(identity).await?;
        Ok(Some(identity))
    }

    async fn store_passkey(
        &self,
        caller: &Caller<'_>,
        mut row: PasskeyRow,
        maker: Option<AuthIdentity>,
        code: NeededCode,
    ) -> Result<Outcome<PasskeyMade>, AuthError> {
        let session = maker.is_none().then(|| {
            let passkey = UsedPasskey {
                id: row.id.clone(),
                made_by: row.made_by.clone(),
            };
            let session = self.new_session(caller, LoginMethod::Passkey);
            Arc::new(session.opened_by(passkey))
        });
        let cookies = match &session {
            Some(session) => Self::session_cookies(session, caller.context)?,
            None => Vec::new(),
        };
        let (actor, now, random) = (
            caller.context.actor(),
            self.0.now(),
            Arc::clone(&self.0.random),
        );
        let (id, in_job) = (row.id.clone(), session.clone());
        let recorded = Recorded::new(kinds::PASSKEY_ADDED, actor.clone(), &[Changed::PASSKEYS]);
        let reverted = Reverted::default();
        let in_job_reverted = reverted.clone();
        let auth = self.clone();
        let job = transaction(move |conn| {
            Box::pin(async move {
                match &maker {
                    None => begin_completion(conn, &code, now, &*random).await?,
                    Some(maker) => {
                        auth.require_live_row(conn, maker).await?;
                        if !Settled::read(conn).await?.facts.setup_complete {
                            // Auth was reset in the meantime. The registration would now complete setup, for which
                            // other rules apply.
                            return Err(AuthError::NotAuthenticated);
                        }
                        row.made_by = lasting_maker(conn, maker).await?;
                    }
                }
                insert(conn, &row).await?;
                if let Some(session) = &in_job {
                    complete_setup(conn, session, now).await?;
                    in_job_reverted.revert(conn, &actor, now, &*random).await?;
                }
                let detail = json!({ "passkey": row.id, "name": row.name, "rp_id": row.rp_id });
                Ok((detail, Settled::read(conn).await?))
            })
        });
        let apply = move |inner: &AuthInner, settled: &Settled| match session {
            Some(session) => inner.setup_completed(settled, &session),
            None => inner.settle(settled),
        };
        self.record(recorded, job, apply).await?;
        Ok(Outcome {
            body: PasskeyMade {
                id,
                settings_reverted: reverted.keys(),
            },
            cookies,
        })
    }

    /// Returns the user ID under which authenticators store this instance's passkeys. Creates it on first use.
    async fn user_handle(&self) -> Result<[u8; 16], AuthError> {
        let fresh = HEXLOWER.encode(&self.0.random.bytes::<16>());
        let now = self.0.now();
        let stored = self.0.store.write(move |conn| {
            Box::pin(async move {
                if let Some(Value::String(handle)) = conn.find_setting(USER_HANDLE).await? {
                    return Ok::<_, AuthError>(handle);
                }
                conn.update_setting(USER_HANDLE, &json!(fresh), now).await?;
                Ok(fresh)
            })
        });
        let bytes = HEXLOWER.decode(stored.await?.as_bytes()).ok();
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or(AuthError::Internal("the stored user handle is damaged"))
    }
}

async fn insert(conn: &mut Conn, row: &PasskeyRow) -> Result<(), AuthError> {
    conn.insert_passkey(row).await.map_err(|error| match error {
        StoreError::Duplicate(_) => AuthError::Conflict("This passkey is already registered."),
        other => other.into(),
    })
}
