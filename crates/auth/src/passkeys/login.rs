//! Login and confirmation by passkey.

use super::api::{CeremonyBegun, LoginFinishRequest};
use super::ceremony::named_credential;
use super::challenge::Purpose;
use crate::api::Done;
use crate::audit::kinds;
use crate::error::AuthError;
use crate::live_credential::LoginMethod;
use crate::request_context::{Caller, Outcome, RequestContext};
use crate::sessions::UsedPasskey;
use crate::state::Auth;
use gatehouse_domain::{ChallengeId, PasskeyId};
use serde_json::Value;

/// A verified passkey response whose use is not yet stored in the database.
pub(crate) struct Proof {
    id: PasskeyId,
    verified: String,
    updated: String,
    made_by: Option<String>,
}

impl Auth {
    /// `POST /api/auth/passkey/auth/begin`.
    pub async fn passkey_login_begin(
        &self,
        caller: &Caller<'_>,
        origin: Option<&str>,
    ) -> Result<CeremonyBegun, AuthError> {
        let (rp_id, party) = self.relying_party(caller.context, origin)?;
        let begun = party.begin_login()?;
        self.keep_challenge(caller.context, Purpose::Login, rp_id, begun)
            .await
    }

    /// `POST /api/auth/passkey/auth/finish`.
    pub async fn passkey_login_finish(
        &self,
        caller: &Caller<'_>,
        request: LoginFinishRequest,
    ) -> Result<Outcome<Done>, AuthError> {
        let actor = caller.context.actor();
        let proof = match self
            .prove_passkey(caller.context, request.challenge_id, request.credential)
            .await
        {
            Ok(proof) => proof,
            Err(error) => {
                self.note_failure(kinds::PASSKEY_FAILED, &actor).await;
                return Err(error);
            }
        };
        let now = self.0.now();
        let used = UsedPasskey {
            id: proof.id.clone(),
            made_by: proof.made_by.clone(),
        };
        let cookies = self
            .begin_session(caller, LoginMethod::Passkey, Some(used), move |conn| {
                Box::pin(async move { proof.note(conn, now).await })
            })
            .await?;
        Ok(Outcome {
            body: Done::OK,
            cookies,
        })
    }

    /// Verifies a passkey's response to a login ceremony, for any endpoint.
    pub(crate) async fn prove_passkey(
        &self,
        context: &RequestContext,
        challenge: ChallengeId,
        answer: Value,
    ) -> Result<Proof, AuthError> {
        let challenge = self.claim_challenge(challenge, Purpose::Login).await?;
        let challenge = challenge.ok_or(AuthError::InvalidCredentials)?;
        let named = named_credential(&answer)
            .ok_or_else(|| AuthError::field("credential", "contains no credential ID"))?;
        let row = self.0.store.read(move |conn| {
            Box::pin(
                async move { Ok::<_, AuthError>(conn.find_passkey_by_credential(&named).await?) },
            )
        });
        // A passkey of another host is not valid here.
        let row = row.await?.filter(|row| row.rp_id == challenge.rp_id);
        let row = row.ok_or(AuthError::InvalidCredentials)?;
        let party = self.party_of(context, &challenge.rp_id)?;
        let updated = party.finish_login(&challenge.state, answer, &row.credential)?;
        Ok(Proof {
            id: row.id,
            verified: row.credential,
            updated,
            made_by: row.made_by,
        })
    }
}

impl Proof {
    /// Stores the use and the new counter. Fails if the passkey was removed or used elsewhere in
    /// the meantime.
    pub(crate) async fn note(
        &self,
        conn: &mut gatehouse_store::Conn,
        now: gatehouse_domain::Timestamp,
    ) -> Result<(), AuthError> {
        let noted = conn
            .update_passkey_used(&self.id, &self.verified, &self.updated, now)
            .await?;
        if noted {
            Ok(())
        } else {
            Err(AuthError::InvalidCredentials)
        }
    }
}
