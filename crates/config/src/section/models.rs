//! `[models]` and `[models.providers.<id>]`: which language models there are.

use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule, is_valid_id};
use crate::merge::{Bad, Merged, Reader};
use crate::value::{InvalidValue, check_line};
use secrecy::SecretString;
use serde_json::json;
use std::collections::BTreeMap;
use std::str::FromStr;
use url::Url;

const KINDS: &[&str] = &["openai", "anthropic"];

pub(crate) const KEYS: &[KeySpec] = &[
    KeySpec {
        key: "models.default",
        kind: Kind::Text(Rule::ModelPath),
        default: Initial::Unset,
        doc: "The model of agents that name none, as provider/model.",
        example: "\"openai/gpt-4.1-mini\"",
        guard: Guard::Write,
        change: Change::Live,
    },
    KeySpec {
        key: "models.autodetect",
        kind: Kind::Flag,
        default: Initial::Flag(true),
        doc: "Use OPENAI_API_KEY and ANTHROPIC_API_KEY when they are set.",
        example: "",
        guard: Guard::Write,
        change: Change::Live,
    },
    KeySpec {
        key: "models.providers.<id>.kind",
        kind: Kind::Text(Rule::OneOf(KINDS)),
        default: Initial::Unset,
        doc: "What the provider speaks: openai or anthropic; without it openai, save for the id \
              anthropic.",
        example: "\"openai\"",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "models.providers.<id>.base_url",
        kind: Kind::Text(Rule::BaseUrl),
        default: Initial::Unset,
        doc: "Base URL with its version segment; one without a path means /v1.",
        example: "\"https://api.openai.com/v1\"",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "models.providers.<id>.api_key",
        kind: Kind::Text(Rule::Secret),
        default: Initial::Unset,
        doc: "The provider's API key; better kept in the vault by providers.set_key.",
        example: "\"sk-…\"",
        guard: Guard::StepUp,
        change: Change::Never("set it with providers.set_key, which keeps it in the vault"),
    },
    KeySpec {
        key: "models.providers.<id>.models",
        kind: Kind::List(Rule::Line),
        default: Initial::Empty,
        doc: "The models to offer; empty asks the provider.",
        example: "",
        guard: Guard::Write,
        change: Change::Live,
    },
];

/// `[models]`
pub struct Models {
    /// `provider/model`.
    pub default: Option<String>,
    /// Whether keys in the environment make a provider.
    pub autodetect: bool,
    /// The configured providers by id.
    pub providers: BTreeMap<String, Provider>,
}

/// `[models.providers.<id>]`
pub struct Provider {
    /// What it speaks.
    pub kind: ProviderKind,
    /// With its version segment, without a slash at the end.
    pub base_url: Url,
    /// Its API key, when it is in the settings.
    pub api_key: Option<SecretString>,
    /// The models to offer; empty asks the provider.
    pub models: Vec<String>,
}

impl Models {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, Bad> {
        let providers = ids_in(reader.merged())
            .into_iter()
            .map(|id| Provider::read(reader, &id).map(|provider| (id, provider)))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            default: reader.optional("models.default")?,
            autodetect: reader.flag("models.autodetect")?,
            providers,
        })
    }
}

impl Provider {
    fn read(reader: &Reader<'_>, id: &str) -> Result<Self, Bad> {
        let key = |name: &str| format!("models.providers.{id}.{name}");
        Ok(Self {
            kind: reader.required(&key("kind"))?,
            base_url: reader.required(&key("base_url"))?,
            api_key: reader.text(&key("api_key")).map(SecretString::from),
            models: reader.list(&key("models"))?,
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

/// Fills in what a provider speaks and where it is, from its id.
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
            entry.value = json!(kind.default_base_url());
        }
    }
}

/// What a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderKind {
    /// `OpenAI`'s chat completions and what is compatible with them.
    Openai,
    /// Anthropic's messages.
    Anthropic,
}

impl ProviderKind {
    /// As it is written in the settings.
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

/// `provider/model`; the model's name may itself contain slashes.
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
