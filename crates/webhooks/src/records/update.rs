//! Changes webhooks.

use super::{
    Miss, OPEN_WARNING, ShownSecret, TRIES, WebhookChanged, checked_secret, config_text, facts,
    no_secret, secret_row,
};
use crate::error::WebhooksError;
use crate::handle::{Inner, Webhooks};
use crate::input::{Patch, WebhookInput};
use crate::schedule::{DueChange, set_due};
use crate::secret::{self, CURRENT};
use crate::webhook::StoredConfig;
use gatehouse_domain::{Actor, WebhookId};
use gatehouse_sources::{AuthMode, verify};
use gatehouse_store::{Conn, WebhookRow, WebhookSecretRow};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use std::sync::Arc;

impl Webhooks {
    /// Changes a webhook. New deliveries use the new settings immediately.
    pub async fn update(
        &self,
        actor: &Actor,
        id: &str,
        input: WebhookInput,
    ) -> Result<WebhookChanged, WebhooksError> {
        let id = self.0.id_of(id).await?;
        let (actor, input) = (actor.clone(), Arc::new(input));
        self.change(move |inner| async move {
            for _ in 0..TRIES {
                match inner.update_once(&actor, &id, &input).await {
                    Ok(secret) => {
                        inner.reload_one(&id).await?;
                        let webhook = inner.shown(&id).await?;
                        let mode = webhook.auth_mode;
                        let warning = if webhook.schedule.is_some() {
                            None
                        } else if mode.needs_secret() {
                            let supplied = input.secret().value();
                            supplied.and_then(|secret| secret::warning(mode, secret))
                        } else {
                            input.auth_mode.is_said().then_some(OPEN_WARNING)
                        };
                        return Ok(WebhookChanged {
                            warning,
                            webhook,
                            secret: secret.map(ShownSecret),
                        });
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
    /// Attempts a change once. Returns the secret if one was generated.
    async fn update_once(
        self: &Arc<Self>,
        actor: &Actor,
        id: &WebhookId,
        input: &Arc<WebhookInput>,
    ) -> Result<Option<SecretString>, Miss> {
        let (before, secret_rows) = self.read_one(id).await?;
        let old = StoredConfig::of(&before)?;
        let mut config = input.config_after(old.clone())?;
        let name = input.name_after(&before.name)?;
        self.check_elsewhere(input, &config).await?;
        let mode = config.auth.mode;
        let has_secret = facts(&secret_rows, self.now()).has_secret;
        let secret = match input.secret() {
            _ if !mode.needs_secret() => {
                no_secret(input)?;
                None
            }
            Patch::Set(secret) => Some(checked_secret(mode, secret)?),
            Patch::Clear => {
                let reason = "this auth mode needs one; rotate it instead";
                return Err(WebhooksError::invalid("secret", reason).into());
            }
            Patch::Absent if has_secret && old.auth.mode == mode => None,
            Patch::Absent => {
                self.secret_for_mode(&before.public_id, secret_rows, mode)
                    .await?
            }
        };
        let keeps_secret = mode.needs_secret();
        if !keeps_secret {
            config.auth.secret_hint = None;
            config.auth.is_generated = false;
        } else if let Some(secret) = &secret {
            config.auth.secret_hint = Some(secret::hint(secret));
            config.auth.is_generated = input.secret().value().is_none();
        }
        let enabled = input.enabled_after(before.enabled);
        let was = Some((&old, before.enabled));
        let due = DueChange::between(was, (&config, enabled), self.now())?;
        let after = WebhookRow {
            name,
            config: config_text(&config)?,
            enabled,
            updated_at: self.now(),
            ..before.clone()
        };
        let named = |secret| secret::named(&before.public_id, secret);
        let secrets: Vec<_> = secret
            .iter()
            .map(|secret| (secret::place(CURRENT), named(secret)))
            .collect();
        let (inner, actor) = (Arc::clone(self), actor.clone());
        self.write_with(secrets, move |conn, formed| {
            let (inner, actor) = (Arc::clone(&inner), actor.clone());
            let (before, after) = (before.clone(), after.clone());
            Box::pin(async move {
                require_unchanged(conn, &before).await?;
                conn.update_webhook(&after).await?;
                set_due(conn, &after.id, due).await?;
                for formed in formed.iter() {
                    let its = secret_row(&after.id, CURRENT, formed, None, after.updated_at);
                    conn.update_webhook_secret(&its).await?;
                }
                // The secret was replaced or removed, so previous secrets must stop working.
                if !formed.is_empty() || !keeps_secret {
                    conn.delete_previous_webhook_secrets(&after.id).await?;
                }
                if !keeps_secret {
                    conn.delete_webhook_secret(&after.id, CURRENT).await?;
                }
                let detail = json!({
                    "id": after.id, "public_id": after.public_id, "name": after.name,
                    "enabled": after.enabled, "paused": config.paused,
                    "secret_replaced": !formed.is_empty(),
                });
                inner.note(conn, "webhook.updated", &actor, detail).await?;
                Ok(())
            })
        })
        .await?;
        // The caller already has a secret that it supplied.
        Ok(secret.filter(|_| !input.secret().is_said()))
    }

    /// Generates a secret for a new mode. Returns `None` if the current secret works in the new mode.
    async fn secret_for_mode(
        &self,
        public_id: &str,
        rows: Vec<WebhookSecretRow>,
        mode: AuthMode,
    ) -> Result<Option<SecretString>, WebhooksError> {
        if let Some(row) = rows.into_iter().find(|row| row.field == CURRENT) {
            let there = secret::open(&self.secrets, public_id, row).await?;
            if verify::check_secret(mode, there.expose_secret()).is_ok() {
                return Ok(None);
            }
        }
        Ok(Some(secret::generate(mode, &*self.random)))
    }
}

/// Fails if the webhook was changed or deleted since it was read. Ignores delivery counts, which change often.
pub(crate) async fn require_unchanged(conn: &mut Conn, read: &WebhookRow) -> Result<(), Miss> {
    let Some(now) = conn.find_webhook(read.id.as_str()).await? else {
        return Err(WebhooksError::NotFound("webhook").into());
    };
    let same = now.config == read.config
        && now.name == read.name
        && now.enabled == read.enabled
        && now.updated_at == read.updated_at;
    if same { Ok(()) } else { Err(Miss::Crossed) }
}
