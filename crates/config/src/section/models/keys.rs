//! The settings of model providers.

use super::{API_KEY_DOC, KINDS};
use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};

pub(in super::super) const BASE_URL_DOC: &str =
    "Base URL with its version segment. If the URL has no path, /v1 is assumed.";

pub(crate) const KEYS: &[KeySpec] = &[
    KeySpec {
        key: "models.default",
        kind: Kind::Text(Rule::ModelPath),
        default: Initial::Unset,
        doc: "The model of agents without one, as provider/model.",
        example: "\"openai/gpt-4.1-mini\"",
        guard: Guard::Write,
        change: Change::Live,
    },
    KeySpec {
        key: "models.autodetect",
        kind: Kind::Flag,
        default: Initial::Flag(true),
        doc: "Use OPENAI_API_KEY and ANTHROPIC_API_KEY if they are set.",
        example: "",
        guard: Guard::Write,
        change: Change::Live,
    },
    KeySpec {
        key: "models.proxy",
        kind: Kind::Text(Rule::WebUrl),
        default: Initial::Unset,
        doc: "HTTP proxy for requests to model providers outside the local network.",
        example: "\"http://proxy.example.com:3128\"",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "models.providers.<id>.kind",
        kind: Kind::Text(Rule::OneOf(KINDS)),
        default: Initial::Unset,
        doc: "The provider's API: openai or anthropic. The default is openai, except for the id \
              anthropic.",
        example: "\"openai\"",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "models.providers.<id>.base_url",
        kind: Kind::Text(Rule::BaseUrl),
        default: Initial::Unset,
        doc: BASE_URL_DOC,
        example: "\"https://api.openai.com/v1\"",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "models.providers.<id>.api_key",
        kind: Kind::Text(Rule::Secret),
        default: Initial::Unset,
        doc: API_KEY_DOC,
        example: "\"sk-…\"",
        guard: Guard::StepUp,
        change: Change::Never("set it with providers.set_key, which stores it in the vault"),
    },
    KeySpec {
        key: "models.providers.<id>.models",
        kind: Kind::List(Rule::Line),
        default: Initial::Empty,
        doc: "The models to offer. If empty, the provider is asked for its list.",
        example: "",
        guard: Guard::Write,
        change: Change::Live,
    },
    KeySpec {
        key: "models.providers.<id>.model",
        kind: Kind::Models,
        default: Initial::Unset,
        doc: "Properties of models by model name: context and max_output in tokens; support for tools, vision and \
              reasoning; and price_in, price_out and price_cached per million tokens. Values set here take \
              precedence over the provider's list.",
        example: "{ \"gpt-4.1\" = { context = 1047576, price_in = 2.0, price_out = 8.0 } }",
        guard: Guard::Admin,
        change: Change::Live,
    },
    KeySpec {
        key: "models.providers.<id>.headers",
        kind: Kind::Headers,
        default: Initial::Unset,
        doc: "Additional HTTP headers for every request to the provider. Their values are never \
              returned.",
        example: "{ x-team = \"operations\" }",
        guard: Guard::StepUp,
        change: Change::Never(
            "set it in the file or the environment, because stored settings are not encrypted",
        ),
    },
    KeySpec {
        key: "models.providers.<id>.azure_api_version",
        kind: Kind::Text(Rule::Line),
        default: Initial::Unset,
        doc: "For Azure OpenAI: the api-version. base_url is then https://<resource>.openai.azure.com/openai, \
              a model's name is that of a deployment, and the key is sent as api-key.",
        example: "\"2024-10-21\"",
        guard: Guard::StepUp,
        change: Change::Live,
    },
];
