//! The table of settings. It defines each key, who may change it and when a change takes effect;
//! the sample, the schema and the scope rules are derived from it.

use crate::alias::canonical_key;
use crate::section;
use crate::section::voice::providers::Named;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// The placeholder in a key pattern for a name that the operator chooses.
pub(crate) const ID: &str = "<id>";
/// Sections in which unknown keys, such as those of a later version, require a confirmation to
/// change.
const GUARDED_SECTIONS: [&str; 9] = [
    "audit",
    "auth",
    "vault",
    "server",
    "proxy",
    "network",
    "database",
    "mcp",
    "telemetry",
];

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct KeySpec {
    /// Dotted key; `<id>` represents a name of `[A-Za-z0-9_.-]{1,64}`.
    pub key: &'static str,
    pub kind: Kind,
    /// The value when the setting is unset.
    pub default: Initial,
    /// One-line description for the operator.
    pub doc: &'static str,
    /// A TOML value for the sample, if the setting has no default.
    pub example: &'static str,
    /// Who may change the setting at run time. A test requires `StepUp` for every setting that
    /// names a program, a file or an address.
    pub guard: Guard,
    /// Whether and when a run-time change takes effect.
    pub change: Change,
}

/// Who may change a setting at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// A caller with `operator.write`.
    Write,
    /// A caller with `operator.admin`.
    Admin,
    /// A caller with `operator.admin` and a recent confirmation. For settings that decide who may
    /// log in, which programs run, which files are read, or where connections and keys are sent.
    StepUp,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Flag,
    /// An integer; both bounds are inclusive.
    Whole {
        min: i64,
        max: i64,
    },
    /// A number; both bounds are inclusive.
    Number {
        min_thousandths: i32,
        max_thousandths: i32,
    },
    Text(Rule),
    /// A list of texts; in the environment comma-separated, or a JSON array.
    List(Rule),
    /// Environment variables by name. A value is a secret text, or `{ vault = "KEY" }` for the
    /// value of a variable in the vault. In the environment `A=1,B=2`, or a JSON object.
    Variables,
    /// HTTP headers by name, sent with every request. In the environment `a=1,b=2`, or a JSON object.
    Headers,
    /// What is known about models, by model name: a table of [`gatehouse_domain::ModelFacts`]. In the
    /// environment a JSON object.
    Models,
}

/// The required format of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// An IP address and a port.
    Address,
    /// An http or https URL.
    WebUrl,
    /// The base URL of an API. `/v1` is appended if the URL has no path.
    BaseUrl,
    /// As `WebUrl`, or `tcp://host:port` of a Wyoming program.
    WebOrTcpUrl,
    /// As `BaseUrl`, or `tcp://host:port` of a Wyoming program.
    BaseOrTcpUrl,
    /// `scheme://host[:port]` or `host:port`.
    Origin,
    /// An IP address or a CIDR network.
    Network,
    HeaderName,
    OneOf(&'static [&'static str]),
    /// A provider, by ID or by the vendor's name. Stored as the ID.
    Provider(&'static [Named]),
    /// A path; a relative one is resolved against the data directory.
    File,
    /// `provider/model`.
    ModelPath,
    /// A time zone, by its IANA name.
    Zone,
    /// A cron pattern of five fields, or six with seconds first.
    Cron,
    /// One line of text.
    Line,
    /// A public DNS name. Stored in lower case.
    DomainName,
    /// An e-mail address.
    Email,
    /// A program, by name or path: any text.
    Argument,
    /// A program's argument: any text. Never shown, because arguments often contain tokens.
    SecretArgument,
    /// Never shown.
    Secret,
    /// The path of a socket, or `udp://host:port`, `tcp://host:port` or `tls://host:port`.
    Syslog,
    /// A level, or `target=level` directives separated by commas.
    LogFilter,
    /// `sqlite://…` or `postgres://…`.
    DatabaseUrl,
}

/// The value of a setting that nobody has set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initial {
    /// No value, or one derived from other settings.
    Unset,
    Flag(bool),
    Whole(i64),
    Text(&'static str),
    /// The empty list.
    Empty,
}

/// Whether and when a run-time change takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Immediately.
    Live,
    /// At the next start.
    Restart,
    /// Stored like any run-time change, but applied by another operation, which the text names.
    Elsewhere(&'static str),
    /// Not changeable at run time; the text gives the reason. A stored value is ignored.
    Never(&'static str),
}

impl KeySpec {
    /// Whether the value is never shown.
    pub fn is_secret(&self) -> bool {
        match self.kind {
            Kind::Variables | Kind::Headers => true,
            Kind::Text(rule) | Kind::List(rule) => {
                matches!(rule, Rule::Secret | Rule::SecretArgument)
            }
            Kind::Flag | Kind::Whole { .. } | Kind::Number { .. } | Kind::Models => false,
        }
    }

    /// Whether changing it requires `operator.admin`.
    pub fn needs_admin(&self) -> bool {
        self.guard != Guard::Write
    }

    /// Whether changing it requires a recent confirmation.
    pub fn needs_step_up(&self) -> bool {
        self.guard == Guard::StepUp
    }

    /// The key with `<id>` replaced, as the sample shows it.
    pub(crate) fn sample_key(&self) -> String {
        // An MCP server is a program or a URL, never both.
        let id = match self.key.split_once(ID) {
            Some(("mcp.servers.", ".url" | ".headers")) => "remote",
            Some(("mcp.servers.", _)) => "files",
            _ => "openai",
        };
        self.key.replace(ID, id)
    }

    /// Whether a change takes effect only after a restart.
    pub fn restart_required(&self) -> bool {
        !matches!(self.change, Change::Live)
    }

    /// The default as JSON; `null` if there is none.
    pub fn default_json(&self) -> Value {
        match self.default {
            Initial::Unset => Value::Null,
            Initial::Flag(flag) => json!(flag),
            Initial::Whole(number) => json!(number),
            Initial::Text(text) => json!(text),
            Initial::Empty => json!([]),
        }
    }

    /// The example as JSON; `null` if there is none.
    pub fn example_json(&self) -> Value {
        let document = toml::from_str::<Value>(&format!("example = {}", self.example));
        document.map_or(Value::Null, |mut document| {
            document.get_mut("example").map_or(Value::Null, Value::take)
        })
    }

    /// The ID in a key of this pattern. Empty for a pattern without an ID; `None` if the key does
    /// not match.
    pub(crate) fn id_in<'k>(&self, key: &'k str) -> Option<&'k str> {
        match self.key.split_once(ID) {
            None => (self.key == key).then_some(""),
            Some((head, tail)) => key
                .strip_prefix(head)?
                .strip_suffix(tail)
                .filter(|id| is_valid_id(id)),
        }
    }

    /// The variable that sets it. Dots and hyphens in an ID become underscores.
    pub(crate) fn env_name(&self, id: &str) -> String {
        let id = id.replace(['.', '-'], "_");
        variable(self.key).replace(&ID.to_ascii_uppercase(), &id.to_ascii_uppercase())
    }

    /// The key that a variable sets, with the ID in lower case.
    pub(crate) fn key_of_env(&self, name: &str) -> Option<String> {
        let pattern = self.env_name(ID);
        match pattern.split_once(ID.to_ascii_uppercase().as_str()) {
            None => (pattern == name).then(|| self.key.to_owned()),
            Some((head, tail)) => {
                let id = name
                    .strip_prefix(head)?
                    .strip_suffix(tail)?
                    .to_ascii_lowercase();
                is_valid_id(&id).then(|| self.key.replace(ID, &id))
            }
        }
    }
}

/// The variable for a key without an ID, or for a pattern.
pub(crate) fn variable(key: &str) -> String {
    let name = key.replace('.', "__").replace('-', "_");
    format!("SERVICE_{}", name.to_ascii_uppercase())
}

/// Every setting, in the order of the sample.
pub fn describe() -> &'static [KeySpec] {
    static KEYS: LazyLock<Vec<KeySpec>> = LazyLock::new(|| section::KEYS.concat());
    &KEYS
}

/// Finds the setting for a dotted key, in either spelling.
pub fn find_key(key: &str) -> Option<&'static KeySpec> {
    let key = canonical_key(key);
    describe().iter().find(|spec| spec.id_in(&key).is_some())
}

/// The variable that sets a key.
pub fn env_name(key: &str) -> Option<String> {
    let key = canonical_key(key);
    describe()
        .iter()
        .find_map(|spec| spec.id_in(&key).map(|id| spec.env_name(id)))
}

/// Who may change a key. For an unknown key, the section decides.
fn guard_of(key: &str) -> Guard {
    match find_key(key) {
        Some(spec) => spec.guard,
        None if GUARDED_SECTIONS.contains(&section_of(key)) => Guard::StepUp,
        None => Guard::Write,
    }
}

/// Whether changing a key requires `operator.admin`.
pub fn key_needs_admin(key: &str) -> bool {
    guard_of(key) != Guard::Write
}

/// Whether changing a key requires a recent confirmation.
pub fn key_needs_step_up(key: &str) -> bool {
    guard_of(key) == Guard::StepUp
}

/// Whether a key's value is never shown.
pub fn key_is_secret(key: &str) -> bool {
    find_key(key).is_some_and(KeySpec::is_secret)
}

/// The first part of a key.
pub(crate) fn section_of(key: &str) -> &str {
    key.split('.').next().unwrap_or(key)
}

/// Whether the ID matches `[A-Za-z0-9_.-]{1,64}`.
pub(crate) fn is_valid_id(id: &str) -> bool {
    (1..=64).contains(&id.len())
        && id
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_an_alphabet_and_a_length() {
        let pattern = |id: &str| format!("models.providers.{id}.kind");
        for id in ["a", "My-1.b_c", &"x".repeat(64)] {
            assert!(find_key(&pattern(id)).is_some(), "{id}");
        }
        for id in ["", "a b", "ä", "a/b", &"x".repeat(65)] {
            assert!(find_key(&pattern(id)).is_none(), "{id}");
        }
    }

    #[test]
    fn variables_follow_from_keys() {
        let name = |key| env_name(key).unwrap();
        assert_eq!(name("server.bind"), "SERVICE_SERVER__BIND");
        assert_eq!(
            name("server.tls.self_signed"),
            "SERVICE_SERVER__TLS__SELF_SIGNED"
        );
        let dynamic = name("models.providers.my-own.ai.base_url");
        assert_eq!(dynamic, "SERVICE_MODELS__PROVIDERS__MY_OWN_AI__BASE_URL");
        assert_eq!(env_name("server.bnid"), None);
        for spec in describe() {
            let key = spec.key.replace(ID, "some_id");
            let name = env_name(&key).unwrap();
            assert_eq!(spec.key_of_env(&name).as_deref(), Some(key.as_str()));
        }
    }

    #[test]
    fn who_may_change_what() {
        for key in [
            "auth.step_up",
            "vault.plaintext_while_sealed",
            "server.bind",
            "proxy.header",
            "network.allow_private",
            "database.url",
            "mcp.servers.x.command",
            "models.providers.openai.base_url",
            "tools.require_approval",
            "tools.trust",
            "tools.secrets",
        ] {
            assert!(key_needs_admin(key), "{key}");
        }
        for key in [
            "models.default",
            "models.autodetect",
            "tools.web_search.provider",
            "log.level",
            "metrics.enabled",
        ] {
            assert!(!key_needs_admin(key), "{key}");
        }
        assert!(key_needs_step_up("auth.disabled_scope") && key_needs_step_up("vault.x"));
        assert!(key_needs_step_up("tools.taint") && key_needs_step_up("tools.secrets"));
        assert!(key_needs_step_up("server.bind") && key_needs_step_up("mcp.servers.x.command"));
        assert!(!key_needs_step_up("log.level") && !key_needs_step_up("tools.require_approval"));
        assert!(key_is_secret("models.providers.openai.api_key"));
        assert!(!key_is_secret("models.providers.openai.kind"));
    }

    /// Every setting that names a program, a file or an address, or that affects access, requires a
    /// confirmation.
    #[test]
    fn what_steers_the_server_needs_a_confirmation() {
        for spec in describe() {
            let names_something = match spec.kind {
                Kind::Variables | Kind::Headers => true,
                Kind::Text(rule) | Kind::List(rule) => matches!(
                    rule,
                    Rule::WebUrl
                        | Rule::BaseUrl
                        | Rule::WebOrTcpUrl
                        | Rule::BaseOrTcpUrl
                        | Rule::Origin
                        | Rule::Address
                        | Rule::File
                        | Rule::Syslog
                        | Rule::Argument
                        | Rule::SecretArgument
                        | Rule::DatabaseUrl
                        | Rule::HeaderName
                        | Rule::Network
                        | Rule::Secret
                ),
                Kind::Flag | Kind::Whole { .. } | Kind::Number { .. } | Kind::Models => false,
            };
            let last = spec.key.rsplit('.').next().unwrap_or_default();
            let by_name = [
                "path", "dir", "file", "command", "url", "endpoint", "args", "kind",
            ]
            .iter()
            .any(|part| last.split('_').any(|word| word == *part));
            if names_something || by_name || GUARDED_SECTIONS.contains(&section_of(spec.key)) {
                assert!(spec.needs_step_up() && spec.needs_admin(), "{}", spec.key);
            }
        }
    }

    #[test]
    fn the_table_is_sound() {
        let mut names = std::collections::HashSet::new();
        for spec in describe() {
            assert!(names.insert(spec.key), "{} twice", spec.key);
            assert!(
                !spec.doc.is_empty() && !spec.doc.contains('\n'),
                "{}",
                spec.key
            );
            if spec.default == Initial::Unset {
                assert!(!spec.example.is_empty(), "{} needs an example", spec.key);
            } else {
                let default = spec.default_json();
                let checked = crate::value::from_json(spec.kind, &default);
                assert_eq!(checked.as_ref(), Ok(&default), "{}", spec.key);
            }
        }
    }
}
