//! Creates webhooks, and validates settings that depend on other crates.

use super::{
    OPEN_WARNING, ShownSecret, WebhookChanged, checked_secret, config_text, no_secret, secret_row,
};
use crate::error::WebhooksError;
use crate::handle::{Inner, Webhooks};
use crate::input::{Patch, WebhookInput};
use crate::schedule::{DueChange, set_due};
use crate::secret::{self, CURRENT};
use crate::webhook::StoredConfig;
use data_encoding::HEXLOWER;
use gatehouse_agents::Source;
use gatehouse_domain::{Actor, WebhookId};
use gatehouse_store::WebhookRow;
use secrecy::SecretString;
use serde_json::json;
use std::sync::Arc;

impl Webhooks {
    /// Creates a webhook. The result contains its secret, which is never shown again.
    pub async fn create(
        &self,
        actor: &Actor,
        input: WebhookInput,
    ) -> Result<WebhookChanged, WebhooksError> {
        let name = input.required_name()?;
        let mut config = input.first_config()?;
        self.0.check_elsewhere(&input, &config).await?;
        let mode = config.auth.mode;
        let secret = match input.secret() {
            _ if !mode.needs_secret() => {
                no_secret(&input)?;
                None
            }
            Patch::Set(secret) => Some(checked_secret(mode, secret)?),
            Patch::Absent | Patch::Clear => Some(secret::generate(mode, &*self.0.random)),
        };
        config.auth.secret_hint = secret.as_ref().map(secret::hint);
        config.auth.is_generated = secret.is_some() && input.secret().value().is_none();
        let now = self.0.now();
        let row = WebhookRow {
            id: WebhookId::generate(&*self.0.clock, &*self.0.random),
            public_id: format!("wh_{}", HEXLOWER.encode(&self.0.random.bytes::<18>())),
            name,
            config: config_text(&config)?,
            enabled: input.enabled_after(true),
            delivery_count: 0,
            last_delivery_at: None,
            created_at: now,
            updated_at: now,
        };
        let supplied = input.secret().value();
        let due = DueChange::between(None, (&config, row.enabled), now)?;
        let warning = if config.webhook.schedule.is_some() {
            None
        } else if mode.needs_secret() {
            supplied.and_then(|secret| secret::warning(mode, secret))
        } else {
            Some(OPEN_WARNING)
        };
        let (actor, shown) = (actor.clone(), secret.clone());
        let webhook = self
            .change(move |inner| async move {
                inner.store_new(&actor, row.clone(), secret, due).await?;
                inner.reload_one(&row.id).await?;
                inner.shown(&row.id).await
            })
            .await?;
        Ok(WebhookChanged {
            webhook,
            secret: shown.map(ShownSecret),
            warning,
        })
    }
}

impl Inner {
    /// Validates the changed settings that refer to other crates: agent, channel and session.
    pub(super) async fn check_elsewhere(
        &self,
        input: &WebhookInput,
        after: &StoredConfig,
    ) -> Result<(), WebhooksError> {
        let config = &after.webhook;
        if let Some(target) = config
            .deliver_to
            .as_deref()
            .filter(|_| input.deliver_to.is_said())
        {
            let checked = self.channels.check_target(target).await;
            checked.map_err(|error| WebhooksError::Refused(error.into()))?;
        }
        if let Some(agent) = config.agent.as_deref().filter(|_| input.agent.is_said()) {
            self.check_agent(agent).await?;
        }
        if let Some(key) = config
            .session_key
            .as_deref()
            .filter(|_| input.session_key.is_said())
        {
            let source = self.agents.session_source(key).await;
            let source = source.map_err(|error| WebhooksError::Refused(error.into()))?;
            if source.is_some_and(|source| source != Source::Webhook) {
                let reason = "a session with this key exists that no webhook created";
                return Err(WebhooksError::invalid("session_key", reason));
            }
        }
        Ok(())
    }

    async fn store_new(
        self: &Arc<Self>,
        actor: &Actor,
        row: WebhookRow,
        secret: Option<SecretString>,
        due: DueChange,
    ) -> Result<(), WebhooksError> {
        let secrets: Vec<_> = secret
            .iter()
            .map(|secret| {
                (
                    secret::place(CURRENT),
                    secret::named(&row.public_id, secret),
                )
            })
            .collect();
        let (inner, actor) = (Arc::clone(self), actor.clone());
        self.write_with(secrets, move |conn, formed| {
            let (inner, actor, row) = (Arc::clone(&inner), actor.clone(), row.clone());
            Box::pin(async move {
                conn.insert_webhook(&row).await?;
                set_due(conn, &row.id, due).await?;
                for formed in formed.iter() {
                    let its = secret_row(&row.id, CURRENT, formed, None, row.created_at);
                    conn.update_webhook_secret(&its).await?;
                }
                let detail = json!({ "id": row.id, "public_id": row.public_id, "name": row.name });
                inner.note(conn, "webhook.created", &actor, detail).await?;
                Ok(())
            })
        })
        .await?;
        Ok(())
    }
}
