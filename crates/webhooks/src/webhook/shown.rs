//! A webhook as shown to its owner.

use super::{SessionMode, StoredConfig, TemplateFormat};
use crate::rules::{OnLimit, is_default};
use crate::schedule::Schedule;
use gatehouse_agents::ToolPolicy;
use gatehouse_domain::{Cidr, Timestamp, WebhookId};
use gatehouse_sources::filter::EventFilter;
use gatehouse_sources::payload_filter::Condition;
use gatehouse_sources::{AuthMode, ReplayGuard};
use gatehouse_store::{StoreError, WebhookRow};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// How deliveries are verified, as shown to the owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WebhookAuth {
    /// The header that contains the secret. For the mode `static_header` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Whether the mode has everything it needs, such as a secret.
    pub configured: bool,
    /// The last characters of the secret, to tell it from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_hint: Option<String>,
    /// Whether the sender generates the secret, and it has not been entered yet: every delivery is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_secret: bool,
    /// When the last of the previous secrets expires. Absent if none is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_secret_expires_at: Option<Timestamp>,
}

/// A webhook as shown to its owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are fields of the record"
)]
pub struct Webhook {
    pub id: WebhookId,
    /// The ID in the ingest URL. It is an identifier, not a secret.
    pub public_id: String,
    /// The URL that senders post to. Absent for a schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    pub name: String,
    /// The ID of the sender's profile.
    pub source_profile: String,
    pub auth_mode: AuthMode,
    /// Details of the verification.
    pub auth: WebhookAuth,
    /// The token that the sender asks for next to the URL. Only for senders that ask for one (Meta), while the secret
    /// is readable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify_token: Option<String>,
    /// Event types that are processed.
    pub events: EventFilter,
    /// Conditions on the payload. Each must be met, or one of its alternatives. Absent without conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub payload_filter: Vec<Condition>,
    /// The agent that processes deliveries. Absent for the default agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The model to use instead of the agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Text appended to the agent's system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt_suffix: Option<String>,
    /// Tools that a turn may use. Absent for none.
    #[serde(
        default,
        rename = "toolPolicy",
        skip_serializing_if = "Option::is_none"
    )]
    pub tool_policy: Option<ToolPolicy>,
    /// Which deliveries share a session.
    pub session_mode: SessionMode,
    /// The session key for the mode `named_session`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// Whether the payload is sent to a channel instead of an agent.
    pub deliver_only: bool,
    /// Template of the text sent to the channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_template: Option<String>,
    /// Whether the template is a text, or the JSON body of the request.
    pub template_format: TemplateFormat,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver_to: Option<String>,
    /// Extra fields for the channel; values are templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver_extra: Option<BTreeMap<String, String>>,
    /// Maximum number of deliveries in any 60 seconds.
    pub rate_limit_per_minute: u32,
    /// Maximum size of a body in bytes.
    pub max_body_bytes: u64,
    /// Networks that deliveries may come from. Absent allows all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_cidrs: Option<Vec<Cidr>>,
    /// The header that contains the event type. For the profile `generic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_header: Option<String>,
    /// How duplicates are detected: by key, or also by the verified bytes.
    pub replay_guard: ReplayGuard,
    /// Whether a duplicate of a failed delivery runs it again, at most 5 times.
    pub redeliver_failed: bool,
    /// What happens to a delivery over `rate_limit_per_minute`.
    pub on_limit: OnLimit,
    /// When the webhook runs. For the profile `schedule` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// The next five runs of a schedule. Empty if it is disabled or paused, or has no further run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_runs: Option<Vec<Timestamp>>,
    /// Whether the webhook accepts deliveries.
    pub enabled: bool,
    /// Whether accepted deliveries wait until the webhook is resumed. Absent if they do not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub paused: bool,
    /// How many deliveries were accepted.
    pub delivery_count: i64,
    /// When the last delivery was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_delivery_at: Option<Timestamp>,
    pub created_at: Timestamp,
    /// When the owner last changed the webhook.
    pub updated_at: Timestamp,
}

/// The facts about a webhook's secrets that may be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SecretFacts {
    pub(crate) has_secret: bool,
    pub(crate) previous_until: Option<Timestamp>,
}

impl Webhook {
    /// Builds the webhook as shown. `due` is when the next run of a schedule is due.
    pub(crate) fn of(
        row: WebhookRow,
        base_url: &str,
        secrets: SecretFacts,
        due: Option<Timestamp>,
    ) -> Result<Self, StoreError> {
        let StoredConfig {
            auth,
            paused,
            webhook,
        } = StoredConfig::of(&row)?;
        let due = due.filter(|_| row.enabled && !paused);
        let has_url = webhook.schedule.is_none();
        Ok(Self {
            next_runs: webhook.schedule.as_ref().map(|it| it.runs_from(due)),
            url: has_url.then(|| ingest_url(base_url, &row.public_id)),
            id: row.id,
            public_id: row.public_id,
            name: row.name,
            source_profile: webhook.source_profile,
            auth_mode: auth.mode,
            auth: WebhookAuth {
                awaits_secret: auth.awaits_secret(),
                header: auth.header,
                configured: secrets.has_secret || !auth.mode.needs_secret(),
                secret_hint: auth.secret_hint,
                previous_secret_expires_at: secrets.previous_until,
            },
            verify_token: None,
            events: webhook.events,
            payload_filter: webhook.payload_filter,
            agent: webhook.agent,
            model: webhook.model,
            system_prompt_suffix: webhook.system_prompt_suffix,
            tool_policy: webhook.tool_policy,
            session_mode: webhook.session_mode,
            session_key: webhook.session_key,
            deliver_only: webhook.deliver_only,
            prompt_template: webhook.prompt_template,
            template_format: webhook.template_format,
            deliver_to: webhook.deliver_to,
            deliver_extra: webhook.deliver_extra,
            rate_limit_per_minute: webhook.rate_limit_per_minute,
            max_body_bytes: webhook.max_body_bytes,
            allowed_cidrs: webhook.allowed_cidrs,
            event_header: webhook.event_header,
            replay_guard: webhook.replay_guard,
            redeliver_failed: webhook.redeliver_failed,
            on_limit: webhook.on_limit,
            schedule: webhook.schedule,
            enabled: row.enabled,
            paused,
            delivery_count: row.delivery_count,
            last_delivery_at: row.last_delivery_at,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

/// Returns the URL that senders post to.
pub(crate) fn ingest_url(base_url: &str, public_id: &str) -> String {
    format!(
        "{}/api/webhooks/ingest/{public_id}",
        base_url.trim_end_matches('/')
    )
}
