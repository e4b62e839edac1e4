//! Confirms the caller's presence before a dangerous operation.

use crate::api::{ConfirmAnswer, ConfirmRequest};
use crate::audit::kinds;
use crate::error::AuthError;
use crate::request_context::{Caller, RequestContext};
use crate::state::Auth;
use gatehouse_domain::ChallengeId;
use serde_json::Value;

impl Auth {
    /// `POST /api/auth/confirm`: with the password or a passkey.
    pub async fn confirm(
        &self,
        caller: &Caller<'_>,
        request: ConfirmRequest,
    ) -> Result<ConfirmAnswer, AuthError> {
        caller.context.identity()?;
        let right = match (request.password, request.challenge_id, request.credential) {
            (Some(password), None, None) => self
                .check_password(caller.context, &password)
                .await?
                .is_some(),
            (None, Some(challenge), Some(credential)) => {
                match self
                    .confirm_by_passkey(caller.context, challenge, credential)
                    .await
                {
                    Ok(()) => true,
                    Err(AuthError::InvalidCredentials) => false,
                    Err(error) => return Err(error),
                }
            }
            (None, Some(_), None) => return Err(AuthError::field("credential", "required")),
            (None, None, Some(_)) => return Err(AuthError::field("challenge_id", "required")),
            (None, None, None) => return Err(AuthError::field("password", "required")),
            (Some(_), ..) => {
                let reason = "send either a password or a passkey's response";
                return Err(AuthError::field("password", reason));
            }
        };
        if !right {
            self.note_failure(kinds::CONFIRM_FAILED, &caller.context.actor())
                .await;
            return Err(AuthError::InvalidCredentials);
        }
        let valid_until = self.renew_confirmation(caller.context).await?;
        Ok(ConfirmAnswer {
            ok: true,
            valid_until,
        })
    }

    async fn confirm_by_passkey(
        &self,
        context: &RequestContext,
        challenge: ChallengeId,
        credential: Value,
    ) -> Result<(), AuthError> {
        let proof = self.prove_passkey(context, challenge, credential).await?;
        let now = self.0.now();
        let noted = self
            .0
            .store
            .write(move |conn| Box::pin(async move { proof.note(conn, now).await }));
        noted.await
    }
}
