//! A webhook as shown to its owner, and the part of it that is stored and copied into each delivery.
//! Contains no secrets; they have their own table.

mod shown;
mod stored;

use crate::rules::{OnLimit, is_default};
use crate::schedule::Schedule;
use gatehouse_agents::ToolPolicy;
use gatehouse_domain::{Cidr, DeliveryId};
use gatehouse_sources::ReplayGuard;
use gatehouse_sources::filter::EventFilter;
use gatehouse_sources::payload_filter::Condition;
use gatehouse_sources::profile::{self, Profile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub(crate) use shown::{SecretFacts, ingest_url};
pub use shown::{Webhook, WebhookAuth};
use std::collections::BTreeMap;
pub use stored::{AuthConfig, Snapshot, StoredConfig};

/// Default rate limit, in deliveries per minute.
pub const DEFAULT_RATE_LIMIT: u32 = 60;
/// Default maximum body size, in bytes: 1 MiB.
pub const DEFAULT_MAX_BODY_BYTES: u64 = 1_048_576;
/// Default header for the mode `static_header`.
pub const DEFAULT_HEADER: &str = "X-Webhook-Secret";
/// Default template for webhooks that send to a channel.
pub const DEFAULT_TEMPLATE: &str = "{__raw__}";
/// The template of an agent's answer to a channel, if none is set.
pub const ANSWER_TEMPLATE: &str = "{answer}";
/// The default JSON template: the payload, unchanged.
pub const JSON_TEMPLATE: &str = "\"{__raw__}\"";
/// The default JSON template of an agent's answer to a channel.
pub const JSON_ANSWER_TEMPLATE: &str = "{\"answer\":\"{answer}\"}";
/// Default target for webhooks that send to a channel.
pub const DEFAULT_TARGET: &str = "inbox";

/// Which deliveries share a chat session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionMode {
    /// Each delivery has its own session.
    #[default]
    PerDelivery,
    /// Deliveries about the same entity, such as a pull request, share a session.
    PerEntity,
    /// All deliveries share one session.
    NamedSession,
}

/// The language of a webhook's template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TemplateFormat {
    /// A text, which the channel sends in its own form.
    #[default]
    Text,
    /// JSON, which is the body of the request. For channels of the type `http`.
    Json,
}

/// The owner's settings, except verification. Each delivery stores a copy, so later edits do not affect it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookConfig {
    /// The neutral ID of the sender's profile.
    pub source_profile: String,
    #[serde(default)]
    pub events: EventFilter,
    /// Conditions on the payload. Each must be met, or one of its alternatives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub payload_filter: Vec<Condition>,
    /// The agent that processes deliveries. Default: the default agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The model to use instead of the agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Text appended to the agent's system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt_suffix: Option<String>,
    /// Tools that a turn may use. Default: none.
    #[serde(
        default,
        rename = "toolPolicy",
        skip_serializing_if = "Option::is_none"
    )]
    pub tool_policy: Option<ToolPolicy>,
    #[serde(default)]
    pub session_mode: SessionMode,
    /// The session key for the mode `named_session`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// Whether to send the payload to a channel instead of an agent.
    #[serde(default)]
    pub deliver_only: bool,
    /// Template of the text sent to the channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_template: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub template_format: TemplateFormat,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver_to: Option<String>,
    /// Extra fields for the channel; values are templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver_extra: Option<BTreeMap<String, String>>,
    /// Maximum number of deliveries in any 60 seconds.
    pub rate_limit_per_minute: u32,
    pub max_body_bytes: u64,
    /// Networks that deliveries may come from. Absent allows all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_cidrs: Option<Vec<Cidr>>,
    /// The header that contains the event type. For the profile `generic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_header: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub replay_guard: ReplayGuard,
    /// Whether a duplicate of a failed delivery runs it again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub redeliver_failed: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_limit: OnLimit,
    /// Only for the profile `schedule`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
}

impl WebhookConfig {
    /// Returns the default settings for a webhook with this profile.
    pub fn new(profile: &Profile) -> Self {
        Self {
            source_profile: profile.id.to_owned(),
            events: EventFilter::default(),
            payload_filter: Vec::new(),
            agent: None,
            model: None,
            system_prompt_suffix: None,
            tool_policy: None,
            session_mode: SessionMode::default(),
            session_key: None,
            deliver_only: false,
            prompt_template: None,
            template_format: TemplateFormat::default(),
            deliver_to: None,
            deliver_extra: None,
            rate_limit_per_minute: DEFAULT_RATE_LIMIT,
            max_body_bytes: DEFAULT_MAX_BODY_BYTES,
            allowed_cidrs: None,
            event_header: None,
            replay_guard: ReplayGuard::default(),
            redeliver_failed: false,
            on_limit: OnLimit::default(),
            schedule: None,
        }
    }

    /// Returns the sender's profile. Falls back to `generic` if no profile in use has the ID.
    pub fn profile(&self) -> &'static Profile {
        self.find_profile().unwrap_or_else(profile::generic)
    }

    /// Returns the sender's profile. Returns `None` if no profile in use has the ID: its file is missing or has a
    /// mistake, or another version created the webhook.
    pub(crate) fn find_profile(&self) -> Option<&'static Profile> {
        profile::find(&self.source_profile)
    }

    pub fn template(&self) -> &str {
        let default = match (self.template_format, self.deliver_only) {
            (TemplateFormat::Text, true) => DEFAULT_TEMPLATE,
            (TemplateFormat::Text, false) => ANSWER_TEMPLATE,
            (TemplateFormat::Json, true) => JSON_TEMPLATE,
            (TemplateFormat::Json, false) => JSON_ANSWER_TEMPLATE,
        };
        self.prompt_template.as_deref().unwrap_or(default)
    }

    /// Returns the channel for the agent's answers, if any.
    pub fn answer_target(&self) -> Option<&str> {
        self.deliver_to.as_deref().filter(|_| !self.deliver_only)
    }

    pub fn target(&self) -> &str {
        self.deliver_to.as_deref().unwrap_or(DEFAULT_TARGET)
    }

    /// Returns the queue target of the deliveries: a channel target, or empty for an agent's turn.
    pub fn queue_target(&self) -> &str {
        if self.deliver_only { self.target() } else { "" }
    }

    /// Returns the session key of a delivery. `per_entity` falls back to `per_delivery` if the entity is unknown.
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
                own_session(public_id, delivery)
            }
        }
    }
}

/// Returns the key of a session that no other delivery shares.
pub(crate) fn own_session(public_id: &str, delivery: &DeliveryId) -> String {
    format!("webhook:{public_id}:{delivery}")
}

#[cfg(test)]
mod tests;
