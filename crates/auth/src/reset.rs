//! "Remove all authentication": deletes every credential, and marks people on channels as untrusted. The vault and
//! its secrets stay.

use crate::api::ResetAnswer;
use crate::audit::kinds;
use crate::error::AuthError;
use crate::lineage::require_no_limits;
use crate::recorded::{Changed, Recorded};
use crate::request_context::{Caller, Outcome};
use crate::setup_code::make_setup_code;
use crate::state::{AUTH_DISABLED, Auth, Settled};
use gatehouse_domain::{Actor, Scope};
use serde_json::json;
use std::sync::Arc;

/// The data that a reset changes.
const CHANGED: [Changed; 7] = [
    Changed::AUTH_DISABLED,
    Changed::SETUP,
    Changed::PASSWORD,
    Changed::PASSKEYS,
    Changed::SESSIONS,
    Changed::API_KEYS,
    Changed::DEVICES,
];
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
        self.record(
            Recorded::new(kinds::AUTH_RESET, actor, &CHANGED),
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
                    conn.insert_change("pairings", now).await?;
                    let detail = json!({
                        "passkeys": passkeys, "sessions": sessions, "api_keys": api_keys,
                        "devices": devices, "people_not_trusted": people,
                    });
                    Ok((detail, Settled::read(conn).await?))
                })
            },
            |inner, settled| {
                inner.settle(settled);
                inner.sessions.end_where(|_| true);
                inner.keys.end_where(|_| true);
                inner.devices.end_where(|_| true);
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
