//! The items that an import would create. The sources add items, and `apply` compares them with the
//! server.

use super::node::{Content, Document, Node};
use secrecy::SecretString;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// A position in a file.
#[derive(Clone, Debug)]
pub struct FilePosition {
    pub path: PathBuf,
    pub line: usize,
}

impl std::fmt::Display for FilePosition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.line)
    }
}

/// An item to create.
pub enum Item {
    /// An environment variable in the vault.
    Variable { key: String, value: SecretString },
    /// A provider's API key in the vault.
    ProviderKey { id: String, key: SecretString },
    /// A private key in the vault.
    SshKey {
        name: String,
        private_key: SecretString,
    },
    Agent {
        id: String,
        params: Map<String, Value>,
    },
    Channel {
        id: String,
        params: Map<String, Value>,
    },
    Webhook {
        name: String,
        params: Map<String, Value>,
    },
}

impl Item {
    /// Returns the kind and the name.
    pub fn describe(&self) -> (&'static str, &str) {
        match self {
            Self::Variable { key, .. } => ("variable", key),
            Self::ProviderKey { id, .. } => ("provider key", id),
            Self::SshKey { name, .. } => ("SSH key", name),
            Self::Agent { id, .. } => ("agent", id),
            Self::Channel { id, .. } => ("channel", id),
            Self::Webhook { name, .. } => ("webhook", name),
        }
    }
}

/// An item and its position in the source.
pub struct Planned {
    pub item: Item,
    pub from: FilePosition,
}

/// A part of the source that is not imported.
#[derive(Debug)]
pub struct Left {
    pub what: String,
    pub from: FilePosition,
    pub why: String,
}

/// The items that an import would create, the secrets that were stored as plaintext, and the omitted parts.
#[derive(Default)]
pub struct Plan {
    pub items: Vec<Planned>,
    pub clear: Vec<(String, FilePosition)>,
    pub left: Vec<Left>,
}

impl Plan {
    pub fn place(path: &Path, line: usize) -> FilePosition {
        FilePosition {
            path: path.to_owned(),
            line,
        }
    }

    pub fn add(&mut self, item: Item, from: FilePosition) {
        self.items.push(Planned { item, from });
    }

    pub fn leave(&mut self, what: impl Into<String>, from: FilePosition, why: impl Into<String>) {
        self.left.push(Left {
            what: what.into(),
            from,
            why: why.into(),
        });
    }

    /// Records that a secret was stored as plaintext.
    pub fn in_clear(&mut self, what: impl Into<String>, from: FilePosition) {
        self.clear.push((what.into(), from));
    }

    /// Reads the text of a secret. A reference to a variable or a secret store is not a secret and is omitted.
    pub fn secret(
        &mut self,
        document: &Document<'_>,
        what: &str,
        node: &Node,
        variables: &dyn Fn(&str) -> Option<String>,
    ) -> Option<String> {
        let from = Self::place(document.path, node.line);
        let Content::Text(text) = &node.value else {
            self.leave(what, from, "its secret is a reference to another store");
            return None;
        };
        if text.is_empty() {
            return None;
        }
        let reference = text
            .strip_prefix("${")
            .and_then(|text| text.strip_suffix('}'));
        let Some(name) = reference else {
            self.in_clear(what, from);
            return Some(text.clone());
        };
        let found = variables(name);
        if found.is_none() {
            self.leave(
                what,
                from,
                format!("its secret is the variable {name}, which is not set here"),
            );
        }
        found
    }

    pub fn variable(&mut self, key: &str, value: &str, from: FilePosition) {
        self.in_clear(key, from.clone());
        let value = SecretString::from(value);
        let key = key.to_owned();
        self.add(Item::Variable { key, value }, from);
    }

    /// Plans a variable of an `.env` file, either as the key of a known provider or as a variable.
    pub fn variable_or_key(&mut self, name: &str, value: &str, from: FilePosition) {
        match provider_of(name) {
            Some(id) => {
                self.in_clear(name, from.clone());
                self.provider_key(id, value, from);
            }
            None => self.variable(name, value, from),
        }
    }

    pub fn provider_key(&mut self, id: &str, key: &str, from: FilePosition) {
        let (id, key) = (id.to_owned(), SecretString::from(key));
        self.add(Item::ProviderKey { id, key }, from);
    }

    /// Plans a channel. Its ID is derived from the source, so a second import finds it.
    pub fn channel(
        &mut self,
        kind: &str,
        source: &str,
        account: &str,
        fields: &Value,
        from: FilePosition,
    ) {
        let id = channel_id(kind, source, account);
        let params = json!({
            "type": kind, "id": id, "label": format!("{kind} ({source})"), "fields": fields,
        });
        if let Value::Object(params) = params {
            self.add(Item::Channel { id, params }, from);
        }
    }

    pub fn agent(&mut self, id: &str, params: Value, from: FilePosition) {
        if let Value::Object(params) = params {
            let id = id.to_owned();
            self.add(Item::Agent { id, params }, from);
        }
    }

    /// Plans a webhook. It is off until the owner has set its agent and its tools.
    pub fn webhook(&mut self, name: &str, mut params: Map<String, Value>, from: FilePosition) {
        params.insert("name".to_owned(), json!(name));
        params.insert("enabled".to_owned(), json!(false));
        let name = name.to_owned();
        self.add(Item::Webhook { name, params }, from);
    }
}

/// Returns the ID of a channel from another product.
pub fn channel_id(kind: &str, source: &str, account: &str) -> String {
    id_of(&format!("{source}-{kind}-{account}"))
}

/// Makes an ID of letters, digits and hyphens.
pub fn id_of(text: &str) -> String {
    let mut id = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            id.push(c.to_ascii_lowercase());
        } else if !id.ends_with('-') && !id.is_empty() {
            id.push('-');
        }
        if id.len() == 60 {
            break;
        }
    }
    id.trim_end_matches('-').to_owned()
}

/// Returns the provider whose vendor documents this variable for its key.
pub fn provider_of(variable: &str) -> Option<&'static str> {
    Some(match variable {
        "OPENAI_API_KEY" => "openai",
        "ANTHROPIC_API_KEY" => "anthropic",
        "OPENROUTER_API_KEY" => "openrouter",
        "MISTRAL_API_KEY" => "mistral",
        "GROQ_API_KEY" => "groq",
        "ELEVENLABS_API_KEY" => "elevenlabs",
        "DEEPGRAM_API_KEY" => "deepgram",
        _ => return None,
    })
}
