//! "Remove all authentication": deletes every credential, and ends the trust in people on channels. The vault and the
//! secrets in it stay.

use crate::api::ResetAnswer;
use crate::audit::kinds;
use crate::error::AuthError;
use crate::lineage::require_no_limits;
use crate::request_context::{Caller, Outcome};
use crate::setup_code::make_setup_code;
use crate::state::{AUTH_DISABLED, Auth, Settled};
use gatehouse_domain::{Actor, Scope};
use gatehouse_store::AuditEntry;
use serde_json::json;
use std::sync::Arc;

/// The data that a reset keeps, as listed in its response.
const KEPT: [&str; 4] = ["vault", "secrets", "settings", "audit_log"];

impl Auth {
    /// `POST /api/auth/reset`.
    pub async fn reset(&self, caller: &Caller<'_>) -> Result<Outcome<ResetAnswer>, AuthError> {
        let identity = caller.context.require(Scope::Admin)?;
        require_no_limits(identity)?;
        self.require_confirmed(identity).await?;
        let body = self.remove_all_auth(caller.context.actor()).await?;
        Ok(Outcome {
            body,
            cookies: Self::cleared_cookies(caller.context),
        })
    }

    pub(crate) async fn remove_all_auth(&self, actor: Actor) -> Result<ResetAnswer, AuthError> {
        let (now, random) = (self.0.now(), Arc::clone(&self.0.random));
        self.change(
            move |conn| {
                Box::pin(async move {
                    conn.delete_password().await?;
                    let passkeys = conn.delete_passkeys().await?;
                    let sessions = conn.delete_other_auth_sessions(None).await?;
                    let api_keys = conn.delete_api_keys(false).await?;
                    let devices = conn.delete_devices(false).await?;
                    // A trusted person on a channel has the owner's permissions in a conversation.
                    let people = conn.end_trust_in_people().await?;
                    conn.update_setting(AUTH_DISABLED, &json!(true), now)
                        .await?;
                    make_setup_code(conn, now, &*random).await?;
                    let entry = AuditEntry {
                        kind: kinds::AUTH_RESET,
                        actor: &actor,
                        detail: json!({
                            "passkeys": passkeys, "sessions": sessions, "api_keys": api_keys,
                            "devices": devices, "people_not_trusted": people,
                        }),
                    };
                    conn.append_audit(&entry, now, &*random).await?;
                    for subject in [
                        "auth_state",
                        "auth_sessions",
                        "auth_api_keys",
                        "auth_devices",
                        "pairings",
                    ] {
                        conn.insert_change(subject, now).await?;
                    }
                    Ok(Settled::read(conn).await?)
                })
            },
            |inner, settled| {
                inner.settle(settled);
                inner.sessions.end_where(|_| true);
                inner.keys.end_where(|_| true);
                inner.devices.end_where(|_| true);
                let what = [
                    "auth_disabled",
                    "setup",
                    "password",
                    "passkeys",
                    "sessions",
                    "api_keys",
                    "devices",
                ];
                inner.announce(&what);
            },
        )
        .await?;
        tracing::warn!("all credentials were removed: auth is disabled until setup is completed");
        Ok(ResetAnswer {
            ok: true,
            kept: KEPT.map(str::to_owned).to_vec(),
        })
    }
}
