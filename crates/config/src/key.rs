//! The definition of a key: its type, its default, who may change it and when a change takes effect.

mod kind;

pub use kind::{Change, Guard, Initial, Kind, Rule};
use serde_json::{Value, json};

/// The placeholder in a key pattern for a name that the operator chooses.
pub(crate) const ID: &str = "<id>";
/// The text that is shown instead of a secret.
pub const MASK: &str = "••••";
/// The ID of a voice provider and the vendor's name, which is an alias of it.
pub type Named = (&'static str, &'static str);

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct KeySpec {
    /// The dotted key. `<id>` stands for a name of `[A-Za-z0-9_.-]{1,64}`.
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

impl KeySpec {
    /// Returns whether the value is never shown.
    pub fn is_secret(&self) -> bool {
        match self.kind {
            Kind::Variables | Kind::Headers => true,
            Kind::Text(rule) | Kind::List(rule) => {
                matches!(rule, Rule::Secret | Rule::SecretArgument)
            }
            Kind::Flag | Kind::Whole { .. } | Kind::Number { .. } | Kind::Models => false,
        }
    }

    /// Returns whether a change of the setting requires `operator.admin`.
    pub fn needs_admin(&self) -> bool {
        self.guard != Guard::Write
    }

    /// Returns whether a change of the setting requires a recent confirmation.
    pub fn needs_step_up(&self) -> bool {
        self.guard == Guard::StepUp
    }

    /// Returns the key for the sample, with `<id>` replaced.
    pub(crate) fn sample_key(&self) -> String {
        // An MCP server is a program or a URL, never both.
        let id = match self.key.split_once(ID) {
            Some(("mcp.servers.", ".url" | ".headers")) => "remote",
            Some(("mcp.servers.", _)) => "files",
            _ => "openai",
        };
        self.key.replace(ID, id)
    }

    /// Returns whether a change takes effect only after a restart.
    pub fn restart_required(&self) -> bool {
        !matches!(self.change, Change::Live)
    }

    /// Returns the default as JSON; `null` if there is none.
    pub fn default_json(&self) -> Value {
        match self.default {
            Initial::Unset => Value::Null,
            Initial::Flag(flag) => json!(flag),
            Initial::Whole(number) => json!(number),
            Initial::Text(text) => json!(text),
            Initial::Empty => json!([]),
        }
    }

    /// Returns the example as JSON; `null` if there is none.
    pub fn example_json(&self) -> Value {
        let document = toml::from_str::<Value>(&format!("example = {}", self.example));
        document.map_or(Value::Null, |mut document| {
            document.get_mut("example").map_or(Value::Null, Value::take)
        })
    }

    /// Returns the ID in a key of this pattern. Returns an empty text for a pattern without an ID, and `None` if
    /// the key does not match.
    pub(crate) fn id_in<'k>(&self, key: &'k str) -> Option<&'k str> {
        match self.key.split_once(ID) {
            None => (self.key == key).then_some(""),
            Some((head, tail)) => key
                .strip_prefix(head)?
                .strip_suffix(tail)
                .filter(|id| is_valid_id(id)),
        }
    }

    /// Returns the variable that sets the key. Dots and hyphens in an ID become underscores.
    pub(crate) fn env_name(&self, id: &str) -> String {
        let id = id.replace(['.', '-'], "_");
        variable(self.key).replace(&ID.to_ascii_uppercase(), &id.to_ascii_uppercase())
    }

    /// Returns the key that a variable sets, with the ID in lower case.
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

/// Returns the variable for a key without an ID, or for a pattern.
pub(crate) fn variable(key: &str) -> String {
    let name = key.replace('.', "__").replace('-', "_");
    format!("SERVICE_{}", name.to_ascii_uppercase())
}

/// Returns the first part of a key.
pub(crate) fn section_of(key: &str) -> &str {
    key.split('.').next().unwrap_or(key)
}

/// Returns whether the ID matches `[A-Za-z0-9_.-]{1,64}`.
pub(crate) fn is_valid_id(id: &str) -> bool {
    (1..=64).contains(&id.len())
        && id
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}
