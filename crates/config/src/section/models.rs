//! `[models]` and `[models.providers.<id>]`: the language models.

mod keys;

use super::model_table;
use crate::invalid_value::{InvalidValue, check_line};
use crate::key::is_valid_id;
use crate::merge::{InvalidSetting, Merged, Reader};
use gatehouse_domain::ModelFacts;
pub(super) use keys::BASE_URL_DOC;
pub(crate) use keys::KEYS;
use secrecy::SecretString;
use serde_json::json;
use std::collections::BTreeMap;
use std::str::FromStr;
use url::Url;

pub(super) const API_KEY_DOC: &str =
    "The provider's API key. Prefer providers.set_key, which stores it in the vault.";
/// Ollama's default address (its FAQ, "How do I configure Ollama server?").
const OLLAMA: &str = "http://127.0.0.1:11434/v1";
const KINDS: &[&str] = &["openai", "anthropic"];

/// The section `[models]`.
pub struct Models {
    /// `provider/model`.
    pub default: Option<String>,
    /// Whether API keys in the environment create a provider.
    pub autodetect: bool,
    /// The proxy for providers outside the local network.
    pub proxy: Option<Url>,
    /// The configured providers by ID.
    pub providers: BTreeMap<String, Provider>,
}

/// `[models.providers.<id>]`
#[derive(Clone)]
pub struct Provider {
    pub kind: ProviderKind,
    /// Includes the version segment; no trailing slash.
    pub base_url: Url,
    /// The API key, if the settings contain it.
    pub api_key: Option<SecretString>,
    /// The models to offer. If empty, the list is requested from the provider.
    pub models: Vec<String>,
    /// Facts about models, by name.
    pub facts: BTreeMap<String, ModelFacts>,
    /// Additional headers of every request.
    pub headers: BTreeMap<String, SecretString>,
    /// Set for Azure `OpenAI`.
    pub azure_api_version: Option<String>,
}

impl Models {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, InvalidSetting> {
        let providers = ids_in(reader.merged())
            .into_iter()
            .map(|id| Provider::read(reader, &id).map(|provider| (id, provider)))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            default: reader.optional("models.default")?,
            autodetect: reader.flag("models.autodetect")?,
            proxy: reader.optional("models.proxy")?,
            providers,
        })
    }
}

impl Provider {
    /// Creates a provider without a key and without other settings.
    pub const fn new(kind: ProviderKind, base_url: Url) -> Self {
        Self {
            kind,
            base_url,
            api_key: None,
            models: Vec::new(),
            facts: BTreeMap::new(),
            headers: BTreeMap::new(),
            azure_api_version: None,
        }
    }

    fn read(reader: &Reader<'_>, id: &str) -> Result<Self, InvalidSetting> {
        let key = |name: &str| format!("models.providers.{id}.{name}");
        Ok(Self {
            kind: reader.required(&key("kind"))?,
            base_url: reader.required(&key("base_url"))?,
            api_key: reader.text(&key("api_key")).map(SecretString::from),
            models: reader.list(&key("models"))?,
            facts: model_table::facts(reader.variables(&key("model"))),
            headers: reader
                .variables(&key("headers"))
                .filter_map(|(name, value)| {
                    Some((name.clone(), SecretString::from(value.as_str()?)))
                })
                .collect(),
            azure_api_version: reader.optional(&key("azure_api_version"))?,
        })
    }
}

fn ids_in(merged: &Merged) -> Vec<String> {
    let id = |key: &String| {
        Some(
            key.strip_prefix("models.providers.")?
                .strip_suffix(".kind")?
                .to_owned(),
        )
    };
    merged.keys().filter_map(id).collect()
}

/// Sets a provider's default protocol, which depends on its ID, and its default base URL.
pub(crate) fn fill_defaults(merged: &mut Merged) {
    for id in ids_in(merged) {
        let mut kind = if id == "anthropic" {
            ProviderKind::Anthropic
        } else {
            ProviderKind::Openai
        };
        if let Some(entry) = merged.get_mut(&format!("models.providers.{id}.kind")) {
            match entry.value.as_str().and_then(|text| text.parse().ok()) {
                Some(given) => kind = given,
                None => entry.value = json!(kind.as_str()),
            }
        }
        let base_url = merged.get_mut(&format!("models.providers.{id}.base_url"));
        if let Some(entry) = base_url.filter(|entry| entry.value.is_null()) {
            entry.value = match id.as_str() {
                "ollama" => json!(OLLAMA),
                _ => json!(kind.default_base_url()),
            };
        }
    }
}

/// The API family of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderKind {
    /// `OpenAI`'s chat completions and compatible APIs.
    Openai,
    /// Anthropic's messages.
    Anthropic,
}

impl ProviderKind {
    /// Returns the spelling in the settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    /// Returns the URL of the vendor's own API.
    pub const fn default_base_url(self) -> &'static str {
        match self {
            Self::Openai => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
        }
    }
}

impl FromStr for ProviderKind {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        match text {
            "openai" => Ok(Self::Openai),
            "anthropic" => Ok(Self::Anthropic),
            _ => Err(InvalidValue::expected_one_of(KINDS)),
        }
    }
}

/// Checks `provider/model`; the model's name may contain slashes.
pub(crate) fn check_model_path(text: &str) -> Result<String, InvalidValue> {
    match text.split_once('/') {
        Some((provider, model)) if is_valid_id(provider) && check_line(model).is_ok() => {
            Ok(text.to_owned())
        }
        _ => Err(InvalidValue::new(
            "expected provider/model, such as openai/gpt-4.1-mini",
        )),
    }
}
