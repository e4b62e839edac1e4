//! The credential in a socket's `connect` message. The decision is the same as for a request, but a password is
//! also accepted. Wrong credentials have their own counter with the limit of the login.

use crate::api::ConnectAuth;
use crate::audit::kinds;
use crate::check_auth::CheckInput;
use crate::cookie::SessionCookies;
use crate::error::AuthError;
use crate::identity::{AuthIdentity, Decision};
use crate::request_context::RequestContext;
use crate::state::{Auth, password_mark};
use crate::throttle::ThrottleClass;
use gatehouse_domain::Problem;
use gatehouse_store::{AuditEntry, StoreError};
use secrecy::ExposeSecret;
use serde_json::json;
use std::sync::Arc;

impl Auth {
    /// Authenticates a socket by its `connect` message.
    pub async fn socket_login(
        &self,
        context: &RequestContext,
        auth: ConnectAuth,
    ) -> Result<AuthIdentity, Problem> {
        Ok(self.recognise_connect(context, auth).await?)
    }

    async fn recognise_connect(
        &self,
        context: &RequestContext,
        auth: ConnectAuth,
    ) -> Result<AuthIdentity, AuthError> {
        let input = CheckInput {
            locality: context.locality,
            client: &context.client,
            class: Some(ThrottleClass::Connect),
            sessions: SessionCookies::none(),
            api_key: auth.api_key.as_ref().map(ExposeSecret::expose_secret),
            device_token: auth.device_token.as_ref().map(ExposeSecret::expose_secret),
        };
        match self.check_auth(&input).await? {
            Decision::Allowed(identity) => return Ok(identity),
            Decision::SetupRequired => return Err(AuthError::SetupRequired),
            Decision::Unauthorized => {}
        }
        // Valid keys were admitted above at no cost, and only wrong credentials count. The slot is reserved before
        // a password is checked, and released if the password is correct.
        let place = self
            .reserve(ThrottleClass::Connect, &context.client)
            .await?;
        if let (None, Some(password)) = (&auth.api_key, &auth.password) {
            let verified = self.check_password(context, password).await;
            match verified {
                Ok(None) => {}
                Err(error) => {
                    place.give_back();
                    return Err(error);
                }
                Ok(Some(hash)) => {
                    place.give_back();
                    // The login is bound to the hash that was verified. The login is refused if the password has
                    // been replaced in the meantime.
                    let mark = password_mark(&hash);
                    let identity = AuthIdentity::socket_password(mark, self.0.now());
                    self.note_socket_login(context).await?;
                    return Ok(identity);
                }
            }
        } else if auth.api_key.is_none() && auth.device_token.is_none() {
            place.give_back();
            return Err(AuthError::NotAuthenticated);
        }
        self.note_failure(kinds::CONNECT_FAILED, &context.actor())
            .await;
        Err(AuthError::InvalidCredentials)
    }

    async fn note_socket_login(&self, context: &RequestContext) -> Result<(), AuthError> {
        let (actor, now) = (context.actor(), self.0.now());
        let random = Arc::clone(&self.0.random);
        let written = self.0.store.write(move |conn| {
            Box::pin(async move {
                let entry = AuditEntry {
                    kind: kinds::LOGIN_SUCCEEDED,
                    actor: &actor,
                    detail: json!({ "method": "password", "socket": true }),
                };
                conn.append_audit(&entry, now, &*random).await.map(drop)
            })
        });
        Ok(written.await.map_err(|error: StoreError| error)?)
    }
}
