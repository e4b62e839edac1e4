//! The settings of the models crate, and its fixed limits.

pub use gatehouse_config::{Provider as ProviderSettings, ProviderKind};
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;
use url::Url;

/// The settings of the models crate.
pub struct ModelsSettings {
    /// `provider/model` for agents without a model.
    pub default: Option<String>,
    /// Whether keys from the environment are used.
    pub autodetect: bool,
    /// The proxy for providers outside the local network.
    pub proxy: Option<Url>,
    /// The providers by ID.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// `OPENAI_API_KEY` for the provider `openai`, if it belongs to that provider's kind and address.
    pub openai_api_key: Option<SecretString>,
    /// `ANTHROPIC_API_KEY` for the provider `anthropic`, under the same condition.
    pub anthropic_api_key: Option<SecretString>,
}

impl Default for ModelsSettings {
    fn default() -> Self {
        Self {
            default: None,
            autodetect: true,
            proxy: None,
            providers: BTreeMap::new(),
            openai_api_key: None,
            anthropic_api_key: None,
        }
    }
}

impl fmt::Debug for ModelsSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelsSettings")
            .field("default", &self.default)
            .field("autodetect", &self.autodetect)
            .field("providers", &self.providers.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// Timeouts for providers.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// Timeout for the response headers, and for each read until the first chunk. It is long, because local models
    /// process the whole conversation before they answer, and `OpenAI`'s reasoning models send nothing while they
    /// reason. A server that is down fails earlier, at the connection, and `agents.turn_timeout_seconds` ends a turn.
    pub first: Duration,
    /// Timeout between two reads of an answer. A model may also reason silently between text and a tool call.
    pub idle: Duration,
    /// Timeout for the whole answer.
    pub whole: Duration,
    /// The time after the first attempt in which another attempt may start.
    pub retries_total: Duration,
    /// The backoff before the first retry. The backoff doubles with each retry, plus a jitter of up
    /// to half of it.
    pub retry_base: Duration,
    /// Timeout for a list of models.
    pub list: Duration,
    /// Timeout for detecting a local server.
    pub probe: Duration,
}

/// Size limits for an answer.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of the whole stream. One token takes about 300 bytes.
    pub reply_bytes: usize,
    /// Bytes of one event.
    pub event_bytes: usize,
    /// Bytes of text in the answer.
    pub text_bytes: usize,
    /// Bytes of one tool call: name, ID and arguments.
    pub call_bytes: usize,
    /// Tool calls in one answer.
    pub calls: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            reply_bytes: 64 << 20,
            event_bytes: 4 << 20,
            text_bytes: 4 << 20,
            call_bytes: 1 << 20,
            calls: 128,
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            first: Duration::from_mins(15),
            idle: Duration::from_mins(10),
            whole: Duration::from_mins(30),
            retries_total: Duration::from_secs(20),
            retry_base: Duration::from_millis(500),
            list: Duration::from_secs(10),
            probe: Duration::from_millis(500),
        }
    }
}

/// Values that only tests change.
#[derive(Clone, Debug)]
pub struct Tuning {
    pub timeouts: Timeouts,
    pub limits: Limits,
    /// The address of a local Ollama; `None` disables detection.
    pub local: Option<Url>,
}

/// Ollama's default address (its FAQ, "How do I configure Ollama server?") with the path of its
/// OpenAI-compatible API.
const OLLAMA: &str = "http://127.0.0.1:11434/v1";

impl Default for Tuning {
    fn default() -> Self {
        Self {
            timeouts: Timeouts::default(),
            limits: Limits::default(),
            local: Url::parse(OLLAMA).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_of_silent_reasoning_are_no_timeout() {
        let timeouts = Timeouts::default();
        let silence = Duration::from_mins(9);
        assert!(timeouts.first > silence && timeouts.idle > silence);
        assert!(timeouts.whole > timeouts.first);
    }
}
