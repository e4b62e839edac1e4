//! `[tools]` and `[tools.web_search]`: approval of tool calls, and the search provider.

use crate::invalid_value::InvalidValue;
use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};
use crate::merge::{InvalidSetting, Reader};
use secrecy::SecretString;
use std::str::FromStr;
use url::Url;

const SWITCH: &[&str] = &["on", "off"];
const PROVIDERS: &[&str] = &["brave", "tavily", "searxng"];

pub(crate) const KEYS: &[KeySpec] = &[
    KeySpec {
        key: "tools.require_approval",
        kind: Kind::List(Rule::Line),
        default: Initial::Empty,
        doc: "Tools that wait for a person to approve each call, up to approvals.timeout_seconds. Changing it at \
              run time needs operator.admin.",
        example: "",
        guard: Guard::Admin,
        change: Change::Live,
    },
    KeySpec {
        key: "tools.taint",
        kind: Kind::Text(Rule::OneOf(SWITCH)),
        default: Initial::Text("on"),
        doc: "Whether tool calls that send, change, reveal or spend something wait for a person's approval in a \
              conversation that contains untrusted text: webhooks, web pages, search results, MCP tools. If off, \
              such text can make your agents act without approval.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "tools.trust",
        kind: Kind::List(Rule::Line),
        default: Initial::Empty,
        doc: "Calls that need no approval under tools.taint: `tool` for a tool without targets, `tool:target`, or \
              `tool:*`. The target of web_fetch is the host, that of webhook `action:id`. Changing \
              it at run time needs operator.admin.",
        example: "",
        guard: Guard::Admin,
        change: Change::Live,
    },
    KeySpec {
        key: "tools.secrets",
        kind: Kind::List(Rule::Line),
        default: Initial::Empty,
        doc: "Secrets that agents may use without seeing them: `NAME:host` or `NAME:host:port`, \
              where NAME is an environment variable in the vault. In a request of web_fetch or to an \
              MCP server at that host over HTTPS, {{secret:NAME}} stands for its value.",
        example: "[\"GITHUB_TOKEN:api.github.com\"]",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "tools.web_search.provider",
        kind: Kind::Text(Rule::OneOf(PROVIDERS)),
        default: Initial::Unset,
        doc: "The service that web_search queries: brave, tavily or searxng.",
        example: "\"brave\"",
        guard: Guard::Write,
        change: Change::Live,
    },
    KeySpec {
        key: "tools.web_search.api_key",
        kind: Kind::Text(Rule::Secret),
        default: Initial::Unset,
        doc: "The API key of brave or tavily. Prefer to store it in the vault as the environment \
              variable BRAVE_API_KEY or TAVILY_API_KEY.",
        example: "\"…\"",
        guard: Guard::StepUp,
        change: Change::Never(
            "store it in the vault with env.set and the key BRAVE_API_KEY or TAVILY_API_KEY",
        ),
    },
    KeySpec {
        key: "tools.web_search.base_url",
        kind: Kind::Text(Rule::WebUrl),
        default: Initial::Unset,
        doc: "The URL of the search service; required for searxng. If the URL has no path, the vendor's own path is \
              assumed.",
        example: "\"http://127.0.0.1:8888\"",
        guard: Guard::StepUp,
        change: Change::Live,
    },
];

/// The section `[tools]`.
#[derive(Debug)]
pub struct Tools {
    /// The tools whose calls wait for a person's approval.
    pub require_approval: Vec<String>,
    /// Whether calls with an effect wait for approval in a session that contains untrusted text.
    pub taint: bool,
    /// The calls that need no approval in such a session.
    pub trust: Vec<String>,
    /// The secrets that requests of tools may contain.
    pub secrets: Vec<ToolSecret>,
    pub web_search: WebSearch,
}

/// An entry of `tools.secrets`: a secret and a host that may receive it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSecret {
    /// An environment variable in the vault.
    pub name: String,
    /// The host in lower case, as in a URL. Includes the port unless it is 443.
    pub host: String,
}

impl FromStr for ToolSecret {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected NAME:host or NAME:host:port";
        let (name, host) = text.split_once(':').ok_or(EXPECTED)?;
        let is_name = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let url = Url::parse(&format!("https://{host}")).map_err(|_| EXPECTED)?;
        let is_host_only = url.path() == "/"
            && !host.contains(['/', '\\', '?', '#', '@', '*'])
            && url.query().is_none();
        if !is_name(name) || !is_host_only {
            return Err(EXPECTED);
        }
        Ok(Self {
            name: name.to_owned(),
            host: url.authority().to_owned(),
        })
    }
}

/// `[tools.web_search]`. Missing parts are reported when a search runs, because the parts may be set one at a time.
#[derive(Clone, Debug, Default)]
pub struct WebSearch {
    pub provider: Option<SearchProvider>,
    /// The API key, if the settings contain it.
    pub api_key: Option<SecretString>,
    /// No trailing slash.
    pub base_url: Option<Url>,
}

impl Tools {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, InvalidSetting> {
        let api_key = reader.text("tools.web_search.api_key");
        Ok(Self {
            require_approval: reader.list("tools.require_approval")?,
            taint: reader.text("tools.taint") != Some("off"),
            trust: reader.list("tools.trust")?,
            secrets: reader.list("tools.secrets")?,
            web_search: WebSearch {
                provider: reader.optional("tools.web_search.provider")?,
                api_key: api_key.map(SecretString::from),
                base_url: reader.optional("tools.web_search.base_url")?,
            },
        })
    }
}

/// The search provider for `web_search`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchProvider {
    Brave,
    Tavily,
    /// A self-hosted `SearXNG`.
    Searxng,
}

impl SearchProvider {
    /// Returns the spelling in the settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Brave => "brave",
            Self::Tavily => "tavily",
            Self::Searxng => "searxng",
        }
    }
}

impl FromStr for SearchProvider {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        match text {
            "brave" => Ok(Self::Brave),
            "tavily" => Ok(Self::Tavily),
            "searxng" => Ok(Self::Searxng),
            _ => Err(InvalidValue::expected_one_of(PROVIDERS)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_names_a_variable_and_a_host() {
        let read = |text: &str| text.parse::<ToolSecret>();
        for (text, host) in [
            ("TOKEN:api.github.com", "api.github.com"),
            ("TOKEN:API.GitHub.com:443", "api.github.com"),
            ("TOKEN:127.0.0.1:8080", "127.0.0.1:8080"),
            ("TOKEN:[::1]:8080", "[::1]:8080"),
        ] {
            assert_eq!(read(text).unwrap().host, host);
        }
        for wrong in [
            "",
            "TOKEN",
            "TOKEN:",
            ":api.github.com",
            "1TOKEN:api.github.com",
            "TO-KEN:api.github.com",
            "TOKEN:api.github.com/path",
            "TOKEN:https://api.github.com",
            "TOKEN:user@api.github.com",
            "TOKEN:*.github.com",
            "TOKEN:api.github.com?x",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
