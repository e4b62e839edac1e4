//! Rotates the secret of a webhook. The previous secret remains valid for some time, in which the owner can update
//! the sender.

use crate::error::WebhooksError;
use crate::handle::{Inner, Webhooks};
use crate::records::{
    Miss, ShownSecret, TRIES, checked_secret, config_text, require_unchanged, secret_row,
};
use crate::secret::{self, CURRENT, PREVIOUS};
use crate::webhook::StoredConfig;
use gatehouse_domain::{Actor, ErrorCode, Problem, Timestamp, WebhookId};
use gatehouse_secrets::SecretsError;
use gatehouse_store::{WebhookRow, WebhookSecretRow};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Serialize;
use serde_json::json;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Default overlap of both secrets: one day.
pub const DEFAULT_OVERLAP_SECONDS: i64 = 86_400;
/// Maximum overlap of both secrets: 30 days.
pub const MAX_OVERLAP_SECONDS: i64 = 2_592_000;

/// The result of a rotation.
#[derive(Serialize, JsonSchema)]
pub struct RotatedSecret {
    /// The new secret. It is never shown again.
    pub secret: ShownSecret,
    /// A warning for the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<&'static str>,
}

impl fmt::Debug for RotatedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RotatedSecret").finish_non_exhaustive()
    }
}

impl Webhooks {
    /// Replaces the secret of a webhook with the given secret or a generated one. Previous secrets remain valid
    /// until their own expiry. With an overlap of 0, all previous secrets expire immediately.
    pub async fn rotate_secret(
        &self,
        actor: &Actor,
        id: &str,
        secret: Option<SecretString>,
        overlap_seconds: Option<i64>,
    ) -> Result<RotatedSecret, WebhooksError> {
        let overlap = overlap_seconds.unwrap_or(DEFAULT_OVERLAP_SECONDS);
        if !(0..=MAX_OVERLAP_SECONDS).contains(&overlap) {
            let reason = format!("expected 0 to {MAX_OVERLAP_SECONDS}");
            return Err(WebhooksError::invalid("overlap_seconds", reason));
        }
        let overlap = Duration::from_secs(overlap.unsigned_abs());
        let id = self.0.id_of(id).await?;
        let actor = actor.clone();
        self.change(move |inner| async move {
            for _ in 0..TRIES {
                match inner
                    .rotate_once(&actor, &id, secret.as_ref(), overlap)
                    .await
                {
                    Ok(rotated) => {
                        inner.reload_one(&id).await?;
                        return Ok(rotated);
                    }
                    Err(Miss::Crossed) => {}
                    Err(Miss::Failed(error)) => return Err(error),
                }
            }
            Err(Miss::Crossed.into())
        })
        .await
    }
}

impl Inner {
    async fn rotate_once(
        self: &Arc<Self>,
        actor: &Actor,
        id: &WebhookId,
        secret: Option<&SecretString>,
        overlap: Duration,
    ) -> Result<RotatedSecret, Miss> {
        let (before, secret_rows) = self.read_one(id).await?;
        let mut config = StoredConfig::of(&before)?;
        let mode = config.auth.mode;
        if !mode.needs_secret() {
            let reason = "this webhook verifies nothing and has no secret";
            return Err(WebhooksError::invalid("id", reason).into());
        }
        let warning = secret.and_then(|secret| secret::warning(mode, secret));
        config.auth.is_generated = secret.is_none();
        let secret = match secret {
            Some(secret) => checked_secret(mode, secret)?,
            None => secret::generate(mode, &*self.random),
        };
        let now = self.now();
        let field = free_field(&secret_rows, now);
        let stored = secret_rows.into_iter().find(|row| row.field == CURRENT);
        let old = self.old_secret(&before.public_id, stored.clone()).await?;
        let old = old.filter(|_| !overlap.is_zero());
        let mut secrets = vec![(
            secret::place(CURRENT),
            secret::named(&before.public_id, &secret),
        )];
        let mut places = vec![(CURRENT, None)];
        if let Some(old) = &old {
            let field = field.ok_or_else(too_many)?;
            let named = secret::named(&before.public_id, old);
            secrets.push((secret::place(field), named));
            places.push((field, Some(now.after(overlap))));
        }
        config.auth.secret_hint = Some(secret::hint(&secret));
        let after = WebhookRow {
            config: config_text(&config)?,
            updated_at: now,
            ..before.clone()
        };
        let (inner, actor) = (Arc::clone(self), actor.clone());
        self.write_with(secrets, move |conn, formed| {
            let (inner, actor, places) = (Arc::clone(&inner), actor.clone(), places.clone());
            let (before, after, stored) = (before.clone(), after.clone(), stored.clone());
            Box::pin(async move {
                require_unchanged(conn, &before).await?;
                require_same_secret(conn, &after.id, stored.as_ref()).await?;
                conn.update_webhook(&after).await?;
                if overlap.is_zero() {
                    conn.delete_previous_webhook_secrets(&after.id).await?;
                }
                for (formed, (field, end)) in formed.iter().zip(places.iter().copied()) {
                    let its = secret_row(&after.id, field, formed, end, now);
                    conn.update_webhook_secret(&its).await?;
                }
                let detail = json!({
                    "id": after.id, "public_id": after.public_id, "name": after.name,
                    "previous_until": places.iter().find_map(|(_, end)| *end),
                });
                inner
                    .note(conn, "webhook.secret_rotated", &actor, detail)
                    .await?;
                Ok(())
            })
        })
        .await?;
        Ok(RotatedSecret {
            secret: ShownSecret(secret),
            warning,
        })
    }

    /// Decrypts the current secret. Drops a damaged secret. Fails if the vault is sealed.
    async fn old_secret(
        &self,
        public_id: &str,
        row: Option<WebhookSecretRow>,
    ) -> Result<Option<SecretString>, WebhooksError> {
        let Some(row) = row else {
            return Ok(None);
        };
        match secret::open(&self.secrets, public_id, row).await {
            Ok(secret) => Ok(Some(secret)),
            Err(error @ SecretsError::Damaged(_)) => {
                tracing::error!(%error, webhook = public_id, "a webhook's secret cannot be read");
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn free_field(rows: &[WebhookSecretRow], now: Timestamp) -> Option<&'static str> {
    let is_good = |field: &str| {
        let row = rows.iter().find(|row| row.field == field);
        row.is_some_and(|row| row.expires_at.is_none_or(|end| now < end))
    };
    PREVIOUS.into_iter().find(|field| !is_good(field))
}

fn too_many() -> WebhooksError {
    WebhooksError::Refused(Problem::new(
        ErrorCode::Conflict,
        format!(
            "{} earlier secrets of this webhook are still valid, and nothing was changed. Wait \
             until one expires, or rotate with overlap_seconds 0, which ends all of them now.",
            PREVIOUS.len()
        ),
    ))
}

/// Fails if the secret was rotated or re-encrypted since it was read.
async fn require_same_secret(
    conn: &mut gatehouse_store::Conn,
    id: &WebhookId,
    read: Option<&WebhookSecretRow>,
) -> Result<(), Miss> {
    let rows = conn.list_secrets_of_webhook(id.as_str()).await?;
    let now = rows.iter().find(|row| row.field == CURRENT);
    if now.map(|row| &row.value) == read.map(|row| &row.value) {
        Ok(())
    } else {
        Err(Miss::Crossed)
    }
}
