//! The input for creating and changing webhooks, and its conversion to the stored form. Pure; `checks`
//! contains the limits.

mod apply;
mod auth;
mod checks;
mod conditions;
mod patch;

pub use checks::MAX_BODY_BYTES;
pub use patch::Patch;

use crate::rules::OnLimit;
use crate::schedule::ScheduleInput;
use crate::webhook::{SessionMode, StoredConfig, TemplateFormat};
pub use auth::AuthInput;
use checks::{Checked, invalid};
use gatehouse_domain::Cidr;
use gatehouse_sources::AuthMode;
use gatehouse_sources::ReplayGuard;
use gatehouse_sources::payload_filter::Condition;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Allow and deny lists, or a plain list of event types to allow.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Events {
    /// Event types to allow.
    Allow(Vec<String>),
    Lists(Lists),
}

/// Allow and deny lists of names. If one list is `null`, it is cleared, and an absent list is kept. Without a
/// `null`, the object replaces both lists.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Lists {
    /// Names to allow.
    allow: Option<Vec<String>>,
    /// Names to deny. Takes precedence over `allow`.
    deny: Option<Vec<String>>,
}

/// Settings of a webhook. `null` resets a setting to its default.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookInput {
    /// Display name. Required for a new webhook.
    #[serde(default)]
    pub name: Patch<String>,
    /// The sender's profile, by ID or alias. Default: `generic`.
    #[serde(default, alias = "sourceProfile")]
    pub source_profile: Patch<String>,
    /// How deliveries are verified. Default: the profile's mode.
    #[serde(default, alias = "authMode")]
    pub auth_mode: Patch<AuthMode>,
    /// The shared secret. Generated if the mode needs one and none is given.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub secret: Patch<SecretString>,
    /// The header that contains the secret. For the mode `static_header` only.
    #[serde(default)]
    pub header: Patch<String>,
    /// `header` and `secret`, in the form that a record uses.
    #[serde(default)]
    pub auth: Patch<AuthInput>,
    /// Event types to process: an object with `allow` and `deny` lists, or a plain list to allow.
    #[serde(default)]
    #[schemars(with = "Option<Events>")]
    pub events: Patch<Value>,
    /// Conditions on the payload, at most 20. Each must be met, or one of its alternatives. A delivery that does not
    /// meet them is `filtered`.
    #[serde(default, alias = "payloadFilter")]
    #[schemars(with = "Option<Vec<Condition>>")]
    pub payload_filter: Patch<Value>,
    /// The agent that processes deliveries.
    #[serde(default)]
    pub agent: Patch<String>,
    /// The model to use instead of the agent's.
    #[serde(default)]
    pub model: Patch<String>,
    /// Text appended to the agent's system prompt.
    #[serde(default, alias = "systemPromptSuffix")]
    pub system_prompt_suffix: Patch<String>,
    /// Tools that a turn may use. Default: none.
    #[serde(default, rename = "toolPolicy", alias = "tool_policy")]
    #[schemars(with = "Option<Lists>")]
    pub tool_policy: Patch<Value>,
    /// Which deliveries share a session.
    #[serde(default, alias = "sessionMode")]
    pub session_mode: Patch<SessionMode>,
    /// The session key for the mode `named_session`.
    #[serde(default, alias = "sessionKey")]
    pub session_key: Patch<String>,
    /// Whether to send the payload to a channel instead of an agent.
    #[serde(default, alias = "deliverOnly")]
    pub deliver_only: Patch<bool>,
    /// Template of the text sent to the channel.
    #[serde(default, alias = "promptTemplate")]
    pub prompt_template: Patch<String>,
    /// Whether the template is a text, or the JSON body of the request. `json` needs a channel of the type `http`
    /// in `deliver_to`, and no `deliver_extra`.
    #[serde(default, alias = "templateFormat")]
    pub template_format: Patch<TemplateFormat>,
    /// The channel, as `type` or `type:account`.
    #[serde(default, alias = "deliverTo")]
    pub deliver_to: Patch<String>,
    /// Extra fields for the channel; values are templates. If any value is `null`, those keys are removed
    /// and the other keys are kept. Without a `null`, the object replaces all fields.
    #[serde(default, alias = "deliverExtra")]
    #[schemars(with = "Option<BTreeMap<String, Option<String>>>")]
    pub deliver_extra: Patch<Value>,
    /// Maximum number of deliveries in any 60 seconds.
    #[serde(default, alias = "rateLimitPerMinute")]
    pub rate_limit_per_minute: Patch<i64>,
    /// Maximum size of a body in bytes.
    #[serde(default, alias = "maxBodyBytes")]
    pub max_body_bytes: Patch<i64>,
    /// Networks that deliveries may come from. Empty allows all.
    #[serde(default, alias = "allowedCidrs")]
    pub allowed_cidrs: Patch<Vec<Cidr>>,
    /// The header that contains the event type. For the profile `generic`.
    #[serde(default, alias = "eventHeader")]
    pub event_header: Patch<String>,
    /// How duplicates are detected: `key` compares delivery keys; `bytes` also compares the verified bytes.
    #[serde(default, alias = "replayGuard")]
    pub replay_guard: Patch<ReplayGuard>,
    /// Whether a duplicate of a failed delivery runs it again, at most 5 times.
    #[serde(default, alias = "redeliverFailed")]
    pub redeliver_failed: Patch<bool>,
    /// What happens to a delivery over the rate limit: `refuse` responds with 429; `queue` stores it and
    /// starts deliveries at the configured rate.
    #[serde(default, alias = "onLimit")]
    pub on_limit: Patch<OnLimit>,
    /// When a webhook of the profile `schedule` runs. Required for this profile.
    #[serde(default)]
    pub schedule: Patch<ScheduleInput>,
    /// Whether the webhook accepts deliveries.
    #[serde(default)]
    pub enabled: Patch<bool>,
    /// Whether accepted deliveries wait in the queue until this is `false` again. Attempts that have begun continue.
    #[serde(default)]
    pub paused: Patch<bool>,
}

/// Rejects a secret header that is also the event header or a header recorded with each delivery. Otherwise the
/// secret would be stored in plain text.
fn secret_stays_apart(stored: &StoredConfig) -> Checked<()> {
    let Some(carrier) = stored.auth.header.as_deref() else {
        return Ok(());
    };
    let is_carrier = |name: &str| name.eq_ignore_ascii_case(carrier);
    if stored
        .webhook
        .event_header
        .as_deref()
        .is_some_and(is_carrier)
    {
        return invalid("event_header", "this header carries the secret");
    }
    let kept = stored.webhook.profile().headers.iter().copied();
    if kept.chain(["content-type"]).any(is_carrier) {
        return invalid("header", "this header is stored with each delivery");
    }
    Ok(())
}

impl WebhookInput {
    /// Returns the supplied secret, from either `secret` or `auth.secret`.
    pub(crate) fn secret(&self) -> &Patch<SecretString> {
        match &self.auth {
            Patch::Set(auth) if !self.secret.is_said() => &auth.secret,
            _ => &self.secret,
        }
    }

    fn header(&self) -> &Patch<String> {
        match &self.auth {
            Patch::Set(auth) if !self.header.is_said() => &auth.header,
            _ => &self.header,
        }
    }

    pub(crate) fn required_name(&self) -> Checked<String> {
        match &self.name {
            Patch::Set(name) => checks::name(name),
            Patch::Absent | Patch::Clear => invalid("name", "required"),
        }
    }

    pub(crate) fn name_after(&self, before: &str) -> Checked<String> {
        match &self.name {
            Patch::Absent => Ok(before.to_owned()),
            Patch::Set(_) | Patch::Clear => self.required_name(),
        }
    }

    pub(crate) const fn enabled_after(&self, before: bool) -> bool {
        match self.enabled {
            Patch::Absent => before,
            Patch::Clear => true,
            Patch::Set(enabled) => enabled,
        }
    }
}

#[cfg(test)]
mod tests;
