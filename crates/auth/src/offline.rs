//! Operations that the operator runs at the command line, directly on the data directory. Access to the files is
//! sufficient authorization. Creating a key also requires the password, if one is set.

use crate::api::{ApiKeyCreated, CreateApiKeyRequest, ResetAnswer};
use crate::audit::kinds;
use crate::error::AuthError;
use crate::setup_code::renew_at_start;
use crate::state::{Auth, Settled};
use gatehouse_domain::Actor;
use gatehouse_store::AuditEntry;
use secrecy::SecretString;
use serde_json::json;
use std::sync::Arc;

impl Auth {
    /// Returns the current setup code. Reopens remote setup after it was closed. Returns a conflict
    /// if setup is complete.
    pub async fn offline_setup_code(&self) -> Result<String, AuthError> {
        self.renew_setup_code(Actor::cli()).await
    }

    /// Like [`Auth::offline_setup_code`], for the operator of a running server.
    pub async fn renew_setup_code(&self, actor: Actor) -> Result<String, AuthError> {
        let (now, random) = (self.0.now(), Arc::clone(&self.0.random));
        let (code, _) = self
            .change(
                move |conn| {
                    Box::pin(async move {
                        if Settled::read(conn).await?.facts.setup_complete {
                            return Err(crate::setup_code::already_complete());
                        }
                        renew_at_start(conn, now, &*random).await?;
                        let entry = AuditEntry {
                            kind: kinds::SETUP_CODE_RENEWED,
                            actor: &actor,
                            detail: json!({}),
                        };
                        conn.append_audit(&entry, now, &*random).await?;
                        let code = conn.find_setup_code().await?.map(|row| row.code);
                        let code =
                            code.ok_or(AuthError::Internal("the setup code no longer exists"))?;
                        Ok((code, Settled::read(conn).await?))
                    })
                },
                |inner, (_, settled)| inner.settle(settled),
            )
            .await?;
        Ok(code)
    }

    /// "Remove all authentication".
    pub async fn offline_reset(&self) -> Result<ResetAnswer, AuthError> {
        self.remove_all_auth(Actor::cli()).await
    }

    /// Creates an API key. Requires the password if one is set.
    pub async fn offline_create_key(
        &self,
        password: &SecretString,
        request: CreateApiKeyRequest,
    ) -> Result<ApiKeyCreated, AuthError> {
        if self.facts().has_password {
            let client = Actor::cli().client;
            let verified = self.verify_password(client, password).await?;
            verified.ok_or(AuthError::InvalidCredentials)?;
        }
        self.mint_offline(request).await
    }
}
