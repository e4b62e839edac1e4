//! The definition of a key: its type, its default, who may change it and when a change takes effect.

use serde_json::{Value, json};

/// The placeholder in a key pattern for a name that the operator chooses.
pub(crate) const ID: &str = "<id>";
/// Replaces each secret when settings are shown.
pub const MASK: &str = "••••";
/// The ID of a voice provider and the vendor's name, which is an alias of it.
pub type Named = (&'static str, &'static str);

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
    /// Facts about models, by model name: a table of [`gatehouse_domain::ModelFacts`]. In the environment a JSON
    /// object.
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
    /// An email address.
    Email,
    /// A program name or path; not validated.
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
