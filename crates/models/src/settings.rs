//! What the owner says about models, and the limits that nobody needs to say.

use secrecy::SecretString;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;
use url::Url;

/// What a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderKind {
    /// `OpenAI`'s chat completions and what is compatible with them.
    Openai,
    /// Anthropic's messages.
    Anthropic,
}

impl ProviderKind {
    /// As it is written in the settings; also the id of the vendor itself.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    /// The vendor's own address.
    pub const fn default_base_url(self) -> &'static str {
        match self {
            Self::Openai => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
        }
    }
}

/// One provider of the settings.
pub struct ProviderSettings {
    /// What it speaks.
    pub kind: ProviderKind,
    /// With its version segment.
    pub base_url: Url,
    /// Its key, when it is in the settings and belongs to this kind and address.
    pub api_key: Option<SecretString>,
    /// The models to offer; empty asks the provider.
    pub models: Vec<String>,
}

/// What the owner says about models.
pub struct ModelsSettings {
    /// `provider/model` of agents that name none.
    pub default: Option<String>,
    /// Whether the keys of the environment count.
    pub autodetect: bool,
    /// The providers by id.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// `OPENAI_API_KEY`, for the provider `openai`, when it belongs to that provider's kind and address.
    pub openai_api_key: Option<SecretString>,
    /// `ANTHROPIC_API_KEY`, for the provider `anthropic`, in the same way.
    pub anthropic_api_key: Option<SecretString>,
}

impl Default for ModelsSettings {
    fn default() -> Self {
        Self {
            default: None,
            autodetect: true,
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

/// How long a provider is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For the first byte: a local model reads the whole conversation before it answers.
    pub first: Duration,
    /// Between two pieces of an answer.
    pub idle: Duration,
    /// For the whole answer.
    pub whole: Duration,
    /// For all tries together, counted from the first: no try begins later.
    pub retries_total: Duration,
    /// Before the first retry; twice as long before each next one. A random half of it is added.
    pub retry_base: Duration,
    /// For a list of models.
    pub list: Duration,
    /// For the look whether there is a local server.
    pub probe: Duration,
}

/// How much of an answer is taken.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of the whole stream. A token is about 300 bytes of it.
    pub reply_bytes: usize,
    /// Bytes of one event.
    pub event_bytes: usize,
    /// Bytes of text in the answer.
    pub text_bytes: usize,
    /// Bytes of one tool call: its name, id and arguments.
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

impl Default for Patience {
    fn default() -> Self {
        Self {
            first: Duration::from_mins(3),
            idle: Duration::from_mins(1),
            whole: Duration::from_mins(15),
            retries_total: Duration::from_secs(20),
            retry_base: Duration::from_millis(500),
            list: Duration::from_secs(10),
            probe: Duration::from_millis(500),
        }
    }
}

/// What only tests change.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// How long a provider is waited for.
    pub patience: Patience,
    /// How much of an answer is taken.
    pub limits: Limits,
    /// Where a local Ollama is looked for; `None` looks nowhere.
    pub local: Option<Url>,
}

/// Where Ollama listens when nobody says otherwise (its FAQ, "How do I configure Ollama server?"), with the
/// path of its OpenAI-compatible interface.
const OLLAMA: &str = "http://127.0.0.1:11434/v1";

impl Default for Tuning {
    fn default() -> Self {
        Self {
            patience: Patience::default(),
            limits: Limits::default(),
            local: Url::parse(OLLAMA).ok(),
        }
    }
}
