//! The flags of `webhooks create` and `webhooks update`: one per field of the API.

mod conditions;

use anyhow::Result;
use conditions::{condition_of, extra_of};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value, json};

/// The fields of a webhook.
#[derive(Debug, clap::Args)]
pub struct Fields {
    /// How deliveries are verified; from the source profile when omitted
    #[arg(long, value_name = "MODE")]
    auth_mode: Option<String>,
    /// The secret that the sender signs with; generated when omitted
    #[arg(long, value_name = "SECRET")]
    secret: Option<SecretString>,
    #[arg(
        long,
        value_name = "NAME",
        help = "The header that carries the secret (static_header)"
    )]
    header: Option<String>,
    /// The header that names the event (generic)
    #[arg(long, value_name = "NAME")]
    event_header: Option<String>,
    /// Event types to accept, separated by commas; all when omitted
    #[arg(long, value_delimiter = ',', value_name = "TYPE,…")]
    events: Option<Vec<String>>,
    /// Event types to ignore, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "TYPE,…")]
    deny_events: Option<Vec<String>>,
    #[arg(
        long,
        value_name = "CONDITION",
        help = "A condition that the payload must meet, as PATH IS VALUE, such as \
                \"pull_request.draft equals false\"; may be repeated, and then replaces all. IS is \
                equals, not_equals, contains, exists, missing, greater or less. In PATH, * is any \
                item of a list. With \"or \" before it, an alternative to the condition before"
    )]
    payload_filter: Vec<String>,
    /// The agent that processes deliveries
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// The agent's model, as provider/model
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Added to the agent's system prompt
    #[arg(long, value_name = "TEXT")]
    system_prompt: Option<String>,
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "TOOL,…",
        help = "Tools to offer: calc, web_search, web_fetch; none when neither list is given"
    )]
    allow_tools: Option<Vec<String>>,
    /// Tools not to offer
    #[arg(long, value_delimiter = ',', value_name = "TOOL,…")]
    deny_tools: Option<Vec<String>>,
    /// Which deliveries share a session
    #[arg(long, value_name = "MODE", value_parser = ["per_delivery", "per_entity", "named_session"])]
    session_mode: Option<String>,
    #[arg(
        long,
        value_name = "KEY",
        help = "The session key for --session-mode named_session"
    )]
    session_key: Option<String>,
    /// Send deliveries to a channel without an agent
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    deliver_only: Option<bool>,
    /// The text to forward, with {dot.notation} variables
    #[arg(long, value_name = "TEXT")]
    prompt_template: Option<String>,
    /// Whether the template is a text, or the JSON body for an http channel
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"])]
    template_format: Option<String>,
    /// The channel to forward to, as type or type:account
    #[arg(long, value_name = "TARGET")]
    deliver_to: Option<String>,
    #[arg(
        long,
        value_name = "KEY=VALUE",
        help = "An extra field of the channel, such as chat_id=42; may be repeated"
    )]
    deliver_extra: Vec<String>,
    /// Maximum deliveries per minute
    #[arg(long, value_name = "NUMBER")]
    rate_limit: Option<u32>,
    /// Maximum body size in bytes
    #[arg(long, value_name = "BYTES")]
    max_body_bytes: Option<u64>,
    /// Networks that deliveries may come from, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "CIDR,…")]
    allowed_cidrs: Option<Vec<String>>,
    #[arg(
        long,
        value_name = "GUARD",
        value_parser = ["key", "bytes"],
        help = "How a repeated delivery is detected: by its key, or also by its verified bytes; \
                `create` uses the profile's proposal when omitted"
    )]
    replay_guard: Option<String>,
    /// When the sender repeats a failed delivery, run it again, at most 5 times
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    redeliver_failed: Option<bool>,
    /// What to do above the rate limit: refuse with 429, or store the delivery and run it at that rate
    #[arg(long, value_name = "CHOICE", value_parser = ["refuse", "queue"])]
    on_limit: Option<String>,
    #[command(flatten)]
    schedule: Schedule,
}

/// The times of a webhook that runs on a schedule.
#[derive(Debug, clap::Args)]
struct Schedule {
    #[arg(
        long = "schedule",
        value_name = "PATTERN",
        group = "when",
        help = "Run at these times, as a cron pattern, such as \"0 9 * * MON-FRI\""
    )]
    cron: Option<String>,
    /// Run at this interval
    #[arg(long, value_name = "SECONDS", group = "when")]
    every: Option<u32>,
    /// Run once, such as 2026-12-24T18:00 in the time zone, or 2026-12-24T18:00:00Z
    #[arg(long, value_name = "TIME", group = "when")]
    at: Option<String>,
    /// The time zone of --schedule and --at, such as Europe/Berlin; UTC when omitted
    #[arg(long, value_name = "ZONE", requires = "when")]
    timezone: Option<String>,
}

impl Schedule {
    fn into_param(self) -> Option<Value> {
        let fields = [
            ("cron", self.cron.map(Value::from)),
            ("every_seconds", self.every.map(Value::from)),
            ("at", self.at.map(Value::from)),
            ("timezone", self.timezone.map(Value::from)),
        ];
        let given: Map<_, _> = fields
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect();
        (!given.is_empty()).then_some(Value::Object(given))
    }
}

impl Fields {
    /// Returns the given fields under their API names.
    pub fn into_params(self) -> Result<Map<String, Value>> {
        let secret = self.secret.as_ref().map(|s| json!(s.expose_secret()));
        let extra = match self.deliver_extra.as_slice() {
            [] => None,
            [none] if none.is_empty() => Some(Value::Null),
            pairs => Some(extra_of(pairs)?),
        };
        let filter = match self.payload_filter.as_slice() {
            [] => None,
            [none] if none.is_empty() => Some(Value::Null),
            conditions => Some(conditions.iter().map(|text| condition_of(text)).collect()),
        };
        let events = lists(self.events, self.deny_events);
        let tools = lists(self.allow_tools, self.deny_tools);
        let fields = [
            ("auth_mode", self.auth_mode.map(Value::from)),
            ("secret", secret),
            ("header", self.header.map(Value::from)),
            ("event_header", self.event_header.map(Value::from)),
            ("events", events),
            ("payload_filter", filter),
            ("agent", self.agent.map(Value::from)),
            ("model", self.model.map(Value::from)),
            ("system_prompt_suffix", self.system_prompt.map(Value::from)),
            ("toolPolicy", tools),
            ("session_mode", self.session_mode.map(Value::from)),
            ("session_key", self.session_key.map(Value::from)),
            ("deliver_only", self.deliver_only.map(Value::from)),
            ("prompt_template", self.prompt_template.map(Value::from)),
            ("template_format", self.template_format.map(Value::from)),
            ("deliver_to", self.deliver_to.map(Value::from)),
            ("deliver_extra", extra),
            ("rate_limit_per_minute", self.rate_limit.map(Value::from)),
            ("max_body_bytes", self.max_body_bytes.map(Value::from)),
            ("allowed_cidrs", self.allowed_cidrs.map(filled)),
            ("replay_guard", self.replay_guard.map(Value::from)),
            ("redeliver_failed", self.redeliver_failed.map(Value::from)),
            ("on_limit", self.on_limit.map(Value::from)),
            ("schedule", self.schedule.into_param()),
        ];
        // An empty text clears a field.
        let cleared = |value: Value| {
            if value == json!("") {
                Value::Null
            } else {
                value
            }
        };
        Ok(fields
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), cleared(value?))))
            .collect())
    }
}

/// The given lists. `update` adds the one that is omitted.
fn lists(allow: Option<Vec<String>>, deny: Option<Vec<String>>) -> Option<Value> {
    let given: Map<_, _> = [("allow", allow), ("deny", deny)]
        .into_iter()
        .filter_map(|(name, list)| Some((name.to_owned(), filled(list?))))
        .collect();
    (!given.is_empty()).then_some(Value::Object(given))
}

/// The texts of a list. An empty text, as in `--events ""`, clears the list.
fn filled(list: Vec<String>) -> Value {
    let texts = list.into_iter().map(|text| text.trim().to_owned());
    texts.filter(|text| !text.is_empty()).collect()
}

#[cfg(test)]
mod tests;
