//! `[mcp.servers.<name>]`: programs and services that provide additional tools.

mod keys;

use crate::merge::{InvalidSetting, Merged, Reader};
pub(crate) use keys::KEYS;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use url::Url;

/// The key of a reference to a value in the vault: `{ vault = "KEY" }`.
pub(crate) const IN_VAULT: &str = "vault";

/// Headers that MCP defines (MCP 2025-06-18, "Streamable HTTP").
const RESERVED: [&str; 4] = [
    "accept",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
];

/// The section `[mcp]`.
#[derive(Debug)]
pub struct Mcp {
    /// The servers by name.
    pub servers: BTreeMap<String, McpServer>,
}

/// `[mcp.servers.<name>]`
#[derive(Clone)]
pub enum McpServer {
    /// A program, run without a shell.
    Command {
        /// Name or path.
        command: String,
        args: Vec<SecretString>,
        /// Variables in addition to the inherited ones.
        env: BTreeMap<String, McpVariable>,
    },
    /// A server over streamable HTTP.
    Url {
        url: Url,
        /// Additional headers of every request. They may name secrets.
        headers: BTreeMap<String, SecretString>,
    },
}

/// The value of a variable.
#[derive(Clone)]
pub enum McpVariable {
    /// The value itself, from the settings.
    Literal(SecretString),
    /// The value of this environment variable in the vault.
    Vault(String),
}

impl McpVariable {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Literal(one), Self::Literal(two)) => one.expose_secret() == two.expose_secret(),
            (Self::Vault(one), Self::Vault(two)) => one == two,
            _ => false,
        }
    }

    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Literal(SecretString::from(text.as_str()))),
            other => other
                .get(IN_VAULT)?
                .as_str()
                .map(|key| Self::Vault(key.to_owned())),
        }
    }
}

impl Mcp {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, InvalidSetting> {
        let servers = ids_in(reader.merged())
            .into_iter()
            .map(|id| McpServer::read(reader, &id).map(|server| (id, server)))
            .collect::<Result<_, _>>()?;
        Ok(Self { servers })
    }
}

impl McpServer {
    /// Returns the name of the transport in the API.
    pub const fn transport(&self) -> &'static str {
        match self {
            Self::Command { .. } => "stdio",
            Self::Url { .. } => "http",
        }
    }

    /// Creates a server over streamable HTTP without additional headers.
    pub const fn at(url: Url) -> Self {
        Self::Url {
            url,
            headers: BTreeMap::new(),
        }
    }

    /// Returns whether the settings are equal. If they are, the server need not restart.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Url { url, headers },
                Self::Url {
                    url: other_url,
                    headers: other_headers,
                },
            ) => url == other_url && are_same(headers, other_headers),
            (
                Self::Command { command, args, env },
                Self::Command {
                    command: other_command,
                    args: other_args,
                    env: other_env,
                },
            ) => {
                let exposed = |args: &[SecretString]| -> Vec<String> {
                    let texts = args.iter().map(|arg| arg.expose_secret().to_owned());
                    texts.collect()
                };
                let mut pairs = env.iter().zip(other_env);
                command == other_command
                    && exposed(args) == exposed(other_args)
                    && env.len() == other_env.len()
                    && pairs.all(|((n1, v1), (n2, v2))| n1 == n2 && v1.is_same(v2))
            }
            _ => false,
        }
    }

    fn read(reader: &Reader<'_>, id: &str) -> Result<Self, InvalidSetting> {
        let key = |name: &str| format!("mcp.servers.{id}.{name}");
        let args = reader.secrets(&key("args"));
        let env: BTreeMap<_, _> = reader
            .variables(&key("env"))
            .filter_map(|(name, value)| Some((name.clone(), McpVariable::read(value)?)))
            .collect();
        let headers: BTreeMap<_, _> = reader
            .variables(&key("headers"))
            .filter_map(|(name, value)| Some((name.clone(), SecretString::from(value.as_str()?))))
            .collect();
        match (
            reader.text(&key("command")),
            reader.optional::<Url>(&key("url"))?,
        ) {
            (Some(""), _) => Err(InvalidSetting::new(&key("command"), "expected a program")),
            (Some(_), None) if !headers.is_empty() => Err(InvalidSetting::new(
                &key("headers"),
                "headers are allowed only with a url",
            )),
            (Some(command), None) => Ok(Self::Command {
                command: command.to_owned(),
                args,
                env,
            }),
            (None, Some(_)) if headers.keys().any(|name| RESERVED.contains(&name.as_str())) => {
                Err(InvalidSetting::new(
                    &key("headers"),
                    "this is a header that only the gateway sets",
                ))
            }
            (None, Some(url)) if args.is_empty() && env.is_empty() => {
                Ok(Self::Url { url, headers })
            }
            (None, Some(_)) => Err(InvalidSetting::new(
                &key("url"),
                "args and env are allowed only with a command",
            )),
            (Some(_), Some(_)) => Err(InvalidSetting::new(
                &key("url"),
                "set a command or a url, not both",
            )),
            (None, None) => Err(InvalidSetting::new(
                &key("command"),
                "set a command or a url",
            )),
        }
    }
}

impl fmt::Debug for McpServer {
    /// Omits arguments and headers, which may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command { command, .. } => f
                .debug_struct("Command")
                .field("command", command)
                .finish_non_exhaustive(),
            Self::Url { url, .. } => f.debug_tuple("Url").field(&url.as_str()).finish(),
        }
    }
}

fn are_same(one: &BTreeMap<String, SecretString>, two: &BTreeMap<String, SecretString>) -> bool {
    let mut pairs = one.iter().zip(two);
    one.len() == two.len()
        && pairs.all(|((n1, v1), (n2, v2))| n1 == n2 && v1.expose_secret() == v2.expose_secret())
}

fn ids_in(merged: &Merged) -> Vec<String> {
    let id = |key: &String| {
        Some(
            key.strip_prefix("mcp.servers.")?
                .strip_suffix(".command")?
                .to_owned(),
        )
    };
    merged.keys().filter_map(id).collect()
}

#[cfg(test)]
mod tests;
