//! The input for creating and changing webhooks, and its conversion to the stored form. Pure; `checks`
//! contains the limits.

mod checks;
mod conditions;
mod patch;

pub use checks::MAX_BODY_BYTES;
pub use patch::Patch;

use crate::rules::OnLimit;
use crate::schedule::ScheduleInput;
use crate::webhook::{AuthConfig, DEFAULT_HEADER, DEFAULT_MAX_BODY_BYTES, DEFAULT_RATE_LIMIT};
use crate::webhook::{SessionMode, StoredConfig, TemplateFormat, WebhookConfig};
use checks::{
    Checked, MAX_ENTRIES, MAX_RATE, MAX_SHORT, MAX_SUFFIX, MAX_TEMPLATE, deliver_extra, events,
    find_profile, header_name, invalid, json_body, line, model, number, put, put_or, secret_header,
    text, tool_policy,
};
use gatehouse_domain::Cidr;
use gatehouse_sources::AuthMode;
use gatehouse_sources::ReplayGuard;
use gatehouse_sources::event;
use gatehouse_sources::filter::EventFilter;
use gatehouse_sources::payload_filter::Condition;
use gatehouse_sources::profile;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;
use serde::de::IgnoredAny;
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

/// Allow and deny lists of names. If either is `null`, that list is cleared and an absent list is kept.
/// Without a `null`, the object replaces both lists.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Lists {
    /// Names to allow.
    allow: Option<Vec<String>>,
    /// Names to deny. Takes precedence over `allow`.
    deny: Option<Vec<String>>,
}

/// The `auth` member of the input. Read-only members of a record are accepted and ignored, so a record can
/// be sent back unchanged.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuthInput {
    /// Same as the top-level `header`.
    #[serde(default)]
    pub header: Patch<String>,
    /// Same as the top-level `secret`.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub secret: Patch<SecretString>,
    /// Ignored.
    #[serde(default)]
    #[schemars(skip)]
    pub configured: IgnoredAny,
    /// Ignored.
    #[serde(default)]
    #[schemars(skip)]
    pub secret_hint: IgnoredAny,
    /// Ignored.
    #[serde(default)]
    #[schemars(skip)]
    pub awaits_secret: IgnoredAny,
    /// Ignored.
    #[serde(default)]
    #[schemars(skip)]
    pub previous_secret_expires_at: IgnoredAny,
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

/// Rejects a secret header that is also the event header or a header recorded with each delivery. The
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
    /// The supplied secret, from either `secret` or `auth.secret`.
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

    pub(crate) fn first_config(&self) -> Checked<StoredConfig> {
        let profile = match &self.source_profile {
            Patch::Set(name) => find_profile(name)?,
            Patch::Absent | Patch::Clear => profile::generic(),
        };
        let fresh = StoredConfig {
            auth: AuthConfig {
                mode: profile.default_auth_mode,
                header: None,
                secret_hint: None,
                is_generated: false,
            },
            paused: false,
            webhook: WebhookConfig::new(profile),
        };
        self.config_after(fresh)
    }

    pub(crate) fn config_after(&self, mut stored: StoredConfig) -> Checked<StoredConfig> {
        put_or(&mut stored.paused, &self.paused, false, |flag| Ok(*flag))?;
        let config = &mut stored.webhook;
        let default_before = config.profile().default_auth_mode;
        put_or(
            &mut config.source_profile,
            &self.source_profile,
            profile::generic().id.to_owned(),
            |name| Ok(find_profile(name)?.id.to_owned()),
        )?;
        let default = stored.webhook.profile().default_auth_mode;
        // If the auth mode was the old profile's default, switch to the new profile's default. The default of a profile
        // can change between the two lookups, so the profile must have been changed here.
        let switches = self.source_profile.is_said() && !self.auth_mode.is_said();
        if switches && stored.auth.mode == default_before {
            stored.auth.mode = default;
        }
        self.apply_auth(&mut stored.auth, default)?;
        self.apply_run(&mut stored.webhook)?;
        self.apply_bounds(&mut stored.webhook)?;
        self.apply_rules(&mut stored.webhook)?;
        self.apply_schedule(&mut stored)?;
        secret_stays_apart(&stored)?;
        Ok(stored)
    }

    fn apply_auth(&self, auth: &mut AuthConfig, default: AuthMode) -> Checked<()> {
        put_or(&mut auth.mode, &self.auth_mode, default, |mode| Ok(*mode))?;
        if !auth.mode.takes_header() {
            if self.header().value().is_some() {
                return invalid("header", "only the mode static_header has one");
            }
            auth.header = None;
            return Ok(());
        }
        put(&mut auth.header, self.header(), |name| {
            header_name("header", name)
        })?;
        let header = auth.header.get_or_insert_with(|| DEFAULT_HEADER.to_owned());
        // Check the header only if something related changed, so that records stored before this rule
        // remain editable.
        if self.header().is_said() || self.auth_mode.is_said() || self.source_profile.is_said() {
            secret_header(header)?;
        }
        Ok(())
    }

    fn apply_run(&self, config: &mut WebhookConfig) -> Checked<()> {
        let short = |field| move |text: &String| line(field, text, MAX_SHORT);
        let before = config.events.clone();
        put_or(
            &mut config.events,
            &self.events,
            EventFilter::default(),
            |value| events(value, &before),
        )?;
        put_or(
            &mut config.payload_filter,
            &self.payload_filter,
            Vec::new(),
            conditions::conditions,
        )?;
        put(&mut config.agent, &self.agent, short("agent"))?;
        put(&mut config.model, &self.model, |text| model(text))?;
        put(
            &mut config.system_prompt_suffix,
            &self.system_prompt_suffix,
            |value| text("system_prompt_suffix", value, MAX_SUFFIX),
        )?;
        let before = config.tool_policy.clone();
        put(&mut config.tool_policy, &self.tool_policy, |value| {
            tool_policy(value, before.as_ref())
        })?;
        put_or(
            &mut config.session_mode,
            &self.session_mode,
            SessionMode::default(),
            |mode| Ok(*mode),
        )?;
        put(
            &mut config.session_key,
            &self.session_key,
            short("session_key"),
        )?;
        put_or(
            &mut config.deliver_only,
            &self.deliver_only,
            false,
            |flag| Ok(*flag),
        )?;
        put(
            &mut config.prompt_template,
            &self.prompt_template,
            |value| text("prompt_template", value, MAX_TEMPLATE),
        )?;
        put_or(
            &mut config.template_format,
            &self.template_format,
            TemplateFormat::default(),
            |format| Ok(*format),
        )?;
        put(
            &mut config.deliver_to,
            &self.deliver_to,
            short("deliver_to"),
        )?;
        let before = config.deliver_extra.clone();
        put(&mut config.deliver_extra, &self.deliver_extra, |value| {
            deliver_extra(value, before.as_ref())
        })?;
        json_body(config)
    }

    fn apply_rules(&self, config: &mut WebhookConfig) -> Checked<()> {
        let guard = ReplayGuard::default();
        put_or(
            &mut config.replay_guard,
            &self.replay_guard,
            guard,
            |guard| Ok(*guard),
        )?;
        put_or(
            &mut config.redeliver_failed,
            &self.redeliver_failed,
            false,
            |flag| Ok(*flag),
        )?;
        let on_limit = OnLimit::default();
        put_or(&mut config.on_limit, &self.on_limit, on_limit, |choice| {
            Ok(*choice)
        })
    }

    /// A schedule has no sender to verify.
    fn apply_schedule(&self, stored: &mut StoredConfig) -> Checked<()> {
        let config = &mut stored.webhook;
        if config.source_profile != profile::SCHEDULE {
            if self.schedule.value().is_some() {
                let reason = format!("only for source_profile {}", profile::SCHEDULE);
                return invalid("schedule", reason);
            }
            config.schedule = None;
            return Ok(());
        }
        if self.payload_filter.is_said() && !config.payload_filter.is_empty() {
            return invalid("payload_filter", "not used with a schedule");
        }
        config.payload_filter.clear();
        put(&mut config.schedule, &self.schedule, ScheduleInput::check)?;
        if config.schedule.is_none() {
            return invalid("schedule", "required: one of cron, every_seconds and at");
        }
        if self.auth_mode.is_said() && stored.auth.mode != AuthMode::NONE {
            return invalid("auth_mode", "a schedule has no sender to verify; use none");
        }
        stored.auth.mode = AuthMode::NONE;
        stored.auth.header = None;
        Ok(())
    }

    fn apply_bounds(&self, config: &mut WebhookConfig) -> Checked<()> {
        put_or(
            &mut config.rate_limit_per_minute,
            &self.rate_limit_per_minute,
            DEFAULT_RATE_LIMIT,
            |value| {
                let rate = number("rate_limit_per_minute", *value, MAX_RATE)?;
                Ok(u32::try_from(rate).unwrap_or(DEFAULT_RATE_LIMIT))
            },
        )?;
        put_or(
            &mut config.max_body_bytes,
            &self.max_body_bytes,
            DEFAULT_MAX_BODY_BYTES,
            |value| Ok(number("max_body_bytes", *value, MAX_BODY_BYTES)?.unsigned_abs()),
        )?;
        put(&mut config.allowed_cidrs, &self.allowed_cidrs, |list| {
            if list.len() > MAX_ENTRIES {
                return invalid("allowed_cidrs", format!("at most {MAX_ENTRIES} networks"));
            }
            Ok(list.clone())
        })?;
        if config.allowed_cidrs.as_ref().is_some_and(Vec::is_empty) {
            config.allowed_cidrs = None;
        }
        put(&mut config.event_header, &self.event_header, |name| {
            if event::carries_credential(name) {
                return invalid("event_header", "its name says that it carries a credential");
            }
            header_name("event_header", name)
        })
    }
}

#[cfg(test)]
mod tests;
