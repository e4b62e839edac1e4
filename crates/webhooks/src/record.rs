//! A webhook as its owner sees it, and what of it is stored and copied into each delivery. Knows no
//! secret: those are rows of their own.

use crate::AuthMode;
use crate::filter::EventFilter;
use crate::profile::{self, Profile};
use crate::rules::{OnLimit, ReplayGuard, is_default};
use gatehouse_agents::ToolPolicy;
use gatehouse_domain::{Cidr, DeliveryId, Timestamp, WebhookId};
use gatehouse_store::{StoreError, WebhookRow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Requests a minute that a webhook takes unless its owner says otherwise.
pub const DEFAULT_RATE_LIMIT: u32 = 60;
/// Bytes of a body unless its owner says otherwise: 1 MiB.
pub const DEFAULT_MAX_BODY_BYTES: u64 = 1_048_576;
/// The header of the mode `static_header` unless its owner says otherwise.
pub const DEFAULT_HEADER: &str = "X-Webhook-Secret";
/// The template of a webhook that only delivers, unless its owner says otherwise.
pub const DEFAULT_TEMPLATE: &str = "{__raw__}";
/// Where a webhook that only delivers sends, unless its owner says otherwise.
pub const DEFAULT_TARGET: &str = "inbox";

/// Which deliveries share a chat session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionMode {
    /// None: each has its own.
    #[default]
    PerDelivery,
    /// Those about the same thing at the sender, such as one pull request.
    PerEntity,
    /// All of them.
    NamedSession,
}

/// What the owner chose, without how deliveries are verified. A copy goes into each delivery, so that
/// later edits do not reach it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookConfig {
    /// The sender's profile, by its neutral id.
    pub source_profile: String,
    /// Which event types are processed.
    #[serde(default)]
    pub events: EventFilter,
    /// The agent that runs; the default one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// A model other than the agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What is added to the agent's system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt_suffix: Option<String>,
    /// Which tools a turn may use; none at all when absent.
    #[serde(
        default,
        rename = "toolPolicy",
        skip_serializing_if = "Option::is_none"
    )]
    pub tool_policy: Option<ToolPolicy>,
    /// Which deliveries share a session.
    #[serde(default)]
    pub session_mode: SessionMode,
    /// The session of the mode `named_session`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// Whether the payload goes to a channel instead of an agent.
    #[serde(default)]
    pub deliver_only: bool,
    /// The text that goes to the channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_template: Option<String>,
    /// The channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver_to: Option<String>,
    /// What else the channel is told; values are templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver_extra: Option<BTreeMap<String, String>>,
    /// How many deliveries any 60 seconds admit.
    pub rate_limit_per_minute: u32,
    /// The longest body.
    pub max_body_bytes: u64,
    /// From where deliveries may come; from everywhere when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_cidrs: Option<Vec<Cidr>>,
    /// The header that names the event type, for the profile `generic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_header: Option<String>,
    /// What tells that a delivery came before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replay_guard: ReplayGuard,
    /// Whether a duplicate of a delivery that failed runs again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub redeliver_failed: bool,
    /// What happens to a delivery over the rate limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_limit: OnLimit,
}

impl WebhookConfig {
    /// A webhook of this profile with nothing chosen.
    pub fn new(profile: &Profile) -> Self {
        Self {
            source_profile: profile.id.to_owned(),
            events: EventFilter::default(),
            agent: None,
            model: None,
            system_prompt_suffix: None,
            tool_policy: None,
            session_mode: SessionMode::default(),
            session_key: None,
            deliver_only: false,
            prompt_template: None,
            deliver_to: None,
            deliver_extra: None,
            rate_limit_per_minute: DEFAULT_RATE_LIMIT,
            max_body_bytes: DEFAULT_MAX_BODY_BYTES,
            allowed_cidrs: None,
            event_header: None,
            replay_guard: ReplayGuard::default(),
            redeliver_failed: false,
            on_limit: OnLimit::default(),
        }
    }

    /// The sender's profile. One that this version does not know is read as `generic`.
    pub fn profile(&self) -> &'static Profile {
        profile::find(&self.source_profile).unwrap_or_else(profile::generic)
    }

    /// The text that goes to the channel.
    pub fn template(&self) -> &str {
        self.prompt_template.as_deref().unwrap_or(DEFAULT_TEMPLATE)
    }

    /// The channel that it goes to.
    pub fn target(&self) -> &str {
        self.deliver_to.as_deref().unwrap_or(DEFAULT_TARGET)
    }

    /// Where its deliveries go in the queue: a channel target, or empty for an agent's turn.
    pub fn queue_target(&self) -> &str {
        if self.deliver_only { self.target() } else { "" }
    }

    /// The session of a delivery, by the specification's table of labels.
    pub fn session_of(
        &self,
        public_id: &str,
        delivery: &DeliveryId,
        entity_key: Option<&str>,
    ) -> String {
        match (self.session_mode, entity_key) {
            (SessionMode::NamedSession, _) => self
                .session_key
                .clone()
                .unwrap_or_else(|| format!("webhook:{public_id}")),
            (SessionMode::PerEntity, Some(entity)) => format!("webhook:{public_id}:{entity}"),
            (SessionMode::PerEntity, None) | (SessionMode::PerDelivery, _) => {
                format!("webhook:{public_id}:{delivery}")
            }
        }
    }
}

/// The copy that goes into a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// What senders know the webhook by.
    pub public_id: String,
    /// Its name.
    pub name: String,
    /// What its owner chose.
    #[serde(flatten)]
    pub config: WebhookConfig,
}

/// How deliveries are verified, without the secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthConfig {
    /// The way.
    pub mode: AuthMode,
    /// Which header carries the secret, in the mode `static_header`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// A little of the secret, to tell it from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_hint: Option<String>,
}

/// What is in the column `config`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredConfig {
    /// How deliveries are verified.
    pub auth: AuthConfig,
    /// Everything else.
    #[serde(flatten)]
    pub webhook: WebhookConfig,
}

impl StoredConfig {
    /// From a row.
    pub fn of(row: &WebhookRow) -> Result<Self, StoreError> {
        serde_json::from_str(&row.config).map_err(|_| StoreError::Damaged {
            what: "configuration of a webhook",
        })
    }
}

/// How deliveries are verified, as the owner sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WebhookAuth {
    /// Which header carries the secret, in the mode `static_header`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Whether what the mode needs is there.
    pub configured: bool,
    /// A little of the secret, to tell it from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_hint: Option<String>,
    /// Until when earlier secrets are good too: the end of the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_secret_expires_at: Option<Timestamp>,
}

/// A webhook as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Webhook {
    /// Its id.
    pub id: WebhookId,
    /// What senders know it by; names it and proves nothing.
    pub public_id: String,
    /// Where senders send.
    pub url: String,
    /// Its name.
    pub name: String,
    /// The sender's profile.
    pub source_profile: String,
    /// How deliveries are verified.
    pub auth_mode: AuthMode,
    /// More about that.
    pub auth: WebhookAuth,
    /// Which event types are processed.
    pub events: EventFilter,
    /// The agent that runs; the default one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// A model other than the agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What is added to the agent's system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt_suffix: Option<String>,
    /// Which tools a turn may use; none at all when absent.
    #[serde(
        default,
        rename = "toolPolicy",
        skip_serializing_if = "Option::is_none"
    )]
    pub tool_policy: Option<ToolPolicy>,
    /// Which deliveries share a session.
    pub session_mode: SessionMode,
    /// The session of the mode `named_session`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// Whether the payload goes to a channel instead of an agent.
    pub deliver_only: bool,
    /// The text that goes to the channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_template: Option<String>,
    /// The channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver_to: Option<String>,
    /// What else the channel is told; values are templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver_extra: Option<BTreeMap<String, String>>,
    /// How many deliveries any 60 seconds admit.
    pub rate_limit_per_minute: u32,
    /// The longest body.
    pub max_body_bytes: u64,
    /// From where deliveries may come; from everywhere when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_cidrs: Option<Vec<Cidr>>,
    /// The header that names the event type, for the profile `generic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_header: Option<String>,
    /// What tells that a delivery came before: its key, or its verified bytes as well.
    pub replay_guard: ReplayGuard,
    /// Whether a duplicate of a delivery that failed runs again, at most 5 times.
    pub redeliver_failed: bool,
    /// What happens to a delivery over `rate_limit_per_minute`.
    pub on_limit: OnLimit,
    /// Whether it takes deliveries.
    pub enabled: bool,
    /// How many it accepted.
    pub delivery_count: i64,
    /// When it last accepted one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_delivery_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its owner last changed it.
    pub updated_at: Timestamp,
}

/// What of a webhook's secrets may be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SecretFacts {
    pub(crate) has_secret: bool,
    pub(crate) previous_until: Option<Timestamp>,
}

impl Webhook {
    pub(crate) fn of(
        row: WebhookRow,
        base_url: &str,
        secrets: SecretFacts,
    ) -> Result<Self, StoreError> {
        let StoredConfig { auth, webhook } = StoredConfig::of(&row)?;
        Ok(Self {
            url: ingest_url(base_url, &row.public_id),
            id: row.id,
            public_id: row.public_id,
            name: row.name,
            source_profile: webhook.source_profile,
            auth_mode: auth.mode,
            auth: WebhookAuth {
                header: auth.header,
                configured: secrets.has_secret || !auth.mode.needs_secret(),
                secret_hint: auth.secret_hint,
                previous_secret_expires_at: secrets.previous_until,
            },
            events: webhook.events,
            agent: webhook.agent,
            model: webhook.model,
            system_prompt_suffix: webhook.system_prompt_suffix,
            tool_policy: webhook.tool_policy,
            session_mode: webhook.session_mode,
            session_key: webhook.session_key,
            deliver_only: webhook.deliver_only,
            prompt_template: webhook.prompt_template,
            deliver_to: webhook.deliver_to,
            deliver_extra: webhook.deliver_extra,
            rate_limit_per_minute: webhook.rate_limit_per_minute,
            max_body_bytes: webhook.max_body_bytes,
            allowed_cidrs: webhook.allowed_cidrs,
            event_header: webhook.event_header,
            replay_guard: webhook.replay_guard,
            redeliver_failed: webhook.redeliver_failed,
            on_limit: webhook.on_limit,
            enabled: row.enabled,
            delivery_count: row.delivery_count,
            last_delivery_at: row.last_delivery_at,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

/// Where senders of a webhook send.
pub(crate) fn ingest_url(base_url: &str, public_id: &str) -> String {
    format!(
        "{}/api/webhooks/ingest/{public_id}",
        base_url.trim_end_matches('/')
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_named_as_specified() {
        let mut config = WebhookConfig::new(profile::generic());
        let delivery = DeliveryId::from_text("del_1");
        let label = |config: &WebhookConfig, entity| config.session_of("wh_a", &delivery, entity);
        assert_eq!(label(&config, Some("e:1")), "webhook:wh_a:del_1");
        config.session_mode = SessionMode::PerEntity;
        assert_eq!(label(&config, Some("e:1")), "webhook:wh_a:e:1");
        assert_eq!(label(&config, None), "webhook:wh_a:del_1");
        config.session_mode = SessionMode::NamedSession;
        assert_eq!(label(&config, Some("e:1")), "webhook:wh_a");
        config.session_key = Some("ops".to_owned());
        assert_eq!(label(&config, None), "ops");
    }

    #[test]
    fn a_configuration_survives_its_column_and_its_copy_has_no_auth() {
        let stored = StoredConfig {
            auth: AuthConfig {
                mode: AuthMode::StaticHeader,
                header: Some(DEFAULT_HEADER.to_owned()),
                secret_hint: Some("…abcd".to_owned()),
            },
            webhook: WebhookConfig::new(profile::generic()),
        };
        let text = serde_json::to_string(&stored).unwrap();
        assert_eq!(serde_json::from_str::<StoredConfig>(&text).unwrap(), stored);
        let copy = Snapshot {
            public_id: "wh_a".to_owned(),
            name: "n".to_owned(),
            config: stored.webhook,
        };
        let text = serde_json::to_string(&copy).unwrap();
        assert!(!text.contains("auth") && !text.contains("abcd"), "{text}");
        assert_eq!(serde_json::from_str::<Snapshot>(&text).unwrap(), copy);
    }
}
