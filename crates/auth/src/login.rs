//! Login by password, and logout.

use crate::api::{Done, LoginRequest};
use crate::audit::kinds;
use crate::error::AuthError;
use crate::live_credential::LoginMethod;
use crate::request_context::{Caller, Outcome};
use crate::sessions::Ending;
use crate::state::Auth;
use gatehouse_secrets::Status;
use gatehouse_store::StoreError;

impl Auth {
    /// `POST /api/auth/login`. A password that does not unlock the vault still logs in.
    pub async fn login(
        &self,
        caller: &Caller<'_>,
        request: LoginRequest,
    ) -> Result<Outcome<Done>, AuthError> {
        // The vault request starts now. A seal during the password check then counts as later and is not undone.
        let secrets = self.0.secrets.for_request();
        let password = request.password;
        let actor = caller.context.actor();
        let Some(verified) = self.check_password(caller.context, &password).await? else {
            self.note_failure(kinds::LOGIN_FAILED, &actor).await;
            return Err(AuthError::InvalidCredentials);
        };
        let cookies = self
            .begin_session(caller, LoginMethod::Password, None, move |conn| {
                Box::pin(async move {
                    // The password may have been changed while it was being checked.
                    if conn.find_password_hash().await? == Some(verified) {
                        Ok(())
                    } else {
                        Err(AuthError::InvalidCredentials)
                    }
                })
            })
            .await?;
        if secrets.status() == Status::Sealed {
            let unsealing = self
                .durable(async move { Ok(secrets.unseal_with_password(&actor, &password).await?) });
            if let Err(error) = unsealing.await {
                tracing::warn!(%error, "the login did not unseal the vault");
            }
        }
        Ok(Outcome {
            body: Done::OK,
            cookies,
        })
    }

    /// `POST /api/auth/logout`.
    pub async fn logout(&self, caller: &Caller<'_>) -> Result<Outcome<Done>, AuthError> {
        let identity = caller.context.identity()?;
        if let Some(session) = identity.as_session() {
            // A logout is not a revocation, so the user's keys are kept.
            let ending = Ending {
                kind: kinds::LOGOUT,
                keep_children: true,
            };
            match self
                .delete_session(caller.context, session.id(), ending)
                .await
            {
                // Another logout may have ended the session already.
                Ok(()) | Err(AuthError::NotFound(_) | AuthError::Store(StoreError::Refused(_))) => {
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Outcome {
            body: Done::OK,
            cookies: Self::cleared_cookies(caller.context),
        })
    }
}
