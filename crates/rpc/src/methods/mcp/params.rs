//! Parameters of the methods for MCP servers.

use gatehouse_domain::input::nullable;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Params of `mcp.create`: a `command` with `args` and `env`, or a `url`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateParams {
    /// The name of the new server: 1 to 64 letters, digits, `.`, `_` and `-`.
    pub(super) name: String,
    /// A program that speaks MCP over standard input and output. It runs without a shell.
    pub(super) command: Option<String>,
    /// The program's arguments, one per element. They are not returned.
    pub(super) args: Option<Vec<String>>,
    /// The program's variables: texts, or `{"vault": "KEY"}`.
    pub(super) env: Option<Map<String, Value>>,
    /// The URL of a server that speaks MCP over streamable HTTP.
    pub(super) url: Option<String>,
    /// Additional headers for the URL. Their values may name secrets: `{{secret:NAME}}`.
    pub(super) headers: Option<Map<String, Value>>,
}

/// Params of `mcp.update`. `null` clears a field. An absent field is not changed. A `url` replaces the program, and a
/// `command` replaces the URL.
#[expect(
    clippy::option_option,
    reason = "absent, null and a value have different meanings"
)]
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateParams {
    /// The name of the server, as in `mcp.list`. A server cannot be renamed.
    pub(super) name: String,
    /// A program that speaks MCP over standard input and output. It runs without a shell.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    pub(super) command: Option<Option<Value>>,
    /// The program's arguments, one per element; they replace all earlier ones. They are not returned.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) args: Option<Option<Value>>,
    /// The program's variables: texts, or `{"vault": "KEY"}`.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub(super) env: Option<Option<Value>>,
    /// The URL of a server that speaks MCP over streamable HTTP.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    pub(super) url: Option<Option<Value>>,
    /// Additional headers for the URL. Their values may name secrets: `{{secret:NAME}}`. A URL of another origin
    /// clears them.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub(super) headers: Option<Option<Value>>,
}

/// Params that name a server.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NameParams {
    /// The name of the server, as in `mcp.list`.
    pub(super) name: String,
}

/// Params of `mcp.approve`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApproveParams {
    /// The name of the server, as in `mcp.list`.
    pub(super) name: String,
    /// The tools to approve, by either name; all by default.
    pub(super) tools: Option<Vec<String>>,
    /// `digest` of `mcp.list`: the call is refused if the server's tools have changed since.
    pub(super) digest: Option<String>,
}
