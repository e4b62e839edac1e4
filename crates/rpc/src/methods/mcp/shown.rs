//! An MCP server and its tools as callers see them. A person approves these texts, so every character in them is
//! visible.

use super::oauth::{McpAuth, auth_of};
use gatehouse_config::McpServer as Configured;
use gatehouse_domain::{Problem, visible};
use gatehouse_services::Services;
use gatehouse_tools::{
    Authorization, McpReview, McpState, McpStatus, McpToolStatus, ToolForm, vault_variables,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// An MCP server.
#[derive(Debug, Serialize, JsonSchema)]
pub struct McpServer {
    /// The name in the settings: `mcp.servers.<name>`.
    pub name: String,
    /// `stdio` for a program, `http` for a URL.
    pub transport: &'static str,
    /// The program, for `stdio`; its arguments are not returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How many arguments the program has.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub args_count: usize,
    /// The names of the variables that the program receives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// The URL, for `http`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The names of the additional headers, for `http`; their values are not returned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
    /// The environment variables in the vault that it uses, whether they exist or not: for `stdio` those in `env`; for
    /// `http` those that the URL and the headers name, and the one for its token.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vault: Vec<String>,
    /// Whether the configuration file or the environment defines it, so that `mcp.delete` cannot remove it.
    pub fixed: bool,
    /// `starting`, `waiting_for_vault`, `connected`, `failed` or `not_built`.
    #[schemars(with = "String")]
    pub state: McpState,
    /// Why it is not connected, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The tools that it offers or that were approved; empty while it is not connected.
    pub tools: Vec<McpTool>,
    /// How many resources and templates it has, for `mcp.resources`; 0 while it is not connected.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resources: usize,
    /// How many prompts it has, for `mcp.prompts`; 0 while it is not connected.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub prompts: usize,
    /// Whether tools wait for `mcp.approve`.
    pub needs_approval: bool,
    /// Identifies the server's current tools, for `mcp.approve`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// How it is connected with an account; absent if it needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<McpAuth>,
}

/// A tool of an MCP server.
#[derive(Debug, Serialize, JsonSchema)]
pub struct McpTool {
    /// The name that agents use.
    pub name: String,
    /// The server's own name, with characters that hide or reorder text as escapes.
    pub tool: String,
    /// `approved`: agents can use it. `changed`, `new` and `gone`: they cannot.
    #[schemars(with = "String")]
    pub review: McpReview,
    /// The form that was approved; absent for a `new` tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<Form>,
    /// The form that the server offers now; absent if it is the approved one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<Form>,
}

/// The form of a tool, in which every character is visible: characters that hide or reorder text are shown as
/// escapes such as `\u{202E}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Form {
    /// The server's description of the tool.
    pub description: String,
    /// The schema of the input as indented JSON.
    pub parameters: String,
    /// The server's hint that the tool changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// The server's hint that the tool reaches systems that were not chosen beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
    /// How many characters were escaped.
    pub hidden: usize,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the shape that serde calls"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Returns whether the configuration file, the environment or the command line defines the server.
pub(super) fn is_fixed(services: &Services, name: &str) -> bool {
    let without_changes = services.config.layers().resolve(&BTreeMap::new());
    without_changes.is_ok_and(|resolved| resolved.settings.mcp.servers.contains_key(name))
}

impl From<ToolForm> for Form {
    fn from(form: ToolForm) -> Self {
        // Serialization cannot fail: the keys of a `Value` are strings.
        let parameters = serde_json::to_string_pretty(&form.parameters).unwrap_or_default();
        let description = visible::lines(&form.description);
        let parameters = visible::lines(&parameters);
        Self {
            hidden: description.hidden + parameters.hidden,
            description: description.text.into_owned(),
            parameters: parameters.text.into_owned(),
            read_only: form.read_only,
            open_world: form.open_world,
        }
    }
}

impl From<McpToolStatus> for McpTool {
    fn from(tool: McpToolStatus) -> Self {
        let is_same = tool.review == McpReview::Approved;
        Self {
            name: tool.name,
            tool: visible::line(&tool.tool).text.into_owned(),
            review: tool.review,
            approved: tool.approved.map(Form::from),
            offered: tool.offered.filter(|_| !is_same).map(Form::from),
        }
    }
}

/// Returns a server as callers see it.
pub(super) async fn shown(services: &Services, status: McpStatus) -> Result<McpServer, Problem> {
    let all = services.tools.mcp().authorizations().await?;
    let authorization = all.get(&status.name);
    Ok(shown_with(services, status, authorization))
}

/// Returns a server together with its stored authorization.
pub(super) fn shown_with(
    services: &Services,
    status: McpStatus,
    authorization: Option<&Authorization>,
) -> McpServer {
    let auth = auth_of(services, &status, authorization);
    let resolved = services.config.resolved();
    let (mut command, mut url) = (None, None);
    let (mut env, mut headers, mut args_count) = (Vec::new(), Vec::new(), 0);
    let configured = resolved.settings.mcp.servers.get(&status.name);
    let vault = configured.map(|server| vault_variables(&status.name, server));
    match configured {
        Some(Configured::Command {
            command: program,
            args,
            env: variables,
        }) => {
            command = Some(program.clone());
            args_count = args.len();
            env = variables.keys().cloned().collect();
        }
        Some(Configured::Url {
            url: address,
            headers: named,
        }) => {
            url = Some(address.to_string());
            headers = named.keys().cloned().collect();
        }
        None => {}
    }
    let waits = |tool: &McpToolStatus| tool.review != McpReview::Approved;
    McpServer {
        fixed: is_fixed(services, &status.name),
        needs_approval: status.listed.iter().any(waits),
        resources: status.offers.resources.len(),
        prompts: status.offers.prompts.len(),
        tools: status.listed.into_iter().map(McpTool::from).collect(),
        name: status.name,
        transport: status.transport,
        command,
        args_count,
        env,
        url,
        headers,
        vault: vault.unwrap_or_default(),
        state: status.state,
        problem: status.problem,
        digest: status.digest,
        auth,
    }
}
