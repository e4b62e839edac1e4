//! Applies an input to the stored settings of a webhook.

use super::checks::{
    Checked, MAX_BODY_BYTES, MAX_ENTRIES, MAX_RATE, MAX_SHORT, MAX_SUFFIX, MAX_TEMPLATE,
    deliver_extra, events, find_profile, header_name, invalid, json_body, line, model, number, put,
    put_or, secret_header, text, tool_policy,
};
use super::patch::Patch;
use super::{WebhookInput, conditions, secret_stays_apart};
use crate::rules::OnLimit;
use crate::schedule::ScheduleInput;
use crate::webhook::{
    AuthConfig, DEFAULT_HEADER, DEFAULT_MAX_BODY_BYTES, DEFAULT_RATE_LIMIT, SessionMode,
    StoredConfig, TemplateFormat, WebhookConfig,
};
use gatehouse_sources::filter::EventFilter;
use gatehouse_sources::{AuthMode, ReplayGuard, event, profile};

impl WebhookInput {
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
        // If the auth mode was the old profile's default, switches to the new profile's default. Only a request
        // that names a profile switches it, because a reload of a profile file between the two lookups can also
        // change the default.
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
        // Checks the header only if a related setting changed, so that records stored before this rule remain
        // editable.
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

    /// Applies the input of a schedule. A schedule has no sender to verify.
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
