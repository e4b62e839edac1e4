//! `mcp.*`: MCP servers and the review of their tools. A change of a server is a change of its settings, with the same
//! checks.

mod oauth;
mod offers;
mod params;
mod shown;

use super::config::{change, change_fields};
use super::page::{PageParams, by_name};
use crate::method_entry::{Audit, Call, DONE, Done, Method, method};
pub use params::{ApproveParams, CreateParams, NameParams, UpdateParams};

use gatehouse_domain::{ErrorCode, Problem, Scope};
use gatehouse_services::to_problem;
use gatehouse_tools::McpStatus;
pub use oauth::{AUTHORIZE, DISCONNECT};
pub use offers::{PROMPT, PROMPTS, RESOURCES};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use shown::{McpServer, is_fixed, shown, shown_with};

pub const LIST: Method = method!(
    "mcp.list",
    "Lists the MCP servers. For each tool that differs from what was approved, the list contains the old and the new form.",
    Some(Scope::Read),
    list(PageParams) -> ListResult
);

pub const CREATE: Method = method!(
    "mcp.create",
    "Adds an MCP server, waits until it is connected or has failed, approves the tools that it has, and \
     returns them.",
    Some(Scope::Admin),
    create(CreateParams) -> McpServer,
    errors: [Conflict, ConfirmationRequired],
    audit: Audit::row("mcp.created", &["name"], &[])
);

pub const UPDATE: Method = method!(
    "mcp.update",
    "Changes an MCP server and starts it again. Approvals stay.",
    Some(Scope::Admin),
    update(UpdateParams) -> McpServer,
    errors: [NotFound, Conflict, ConfirmationRequired],
    audit: Audit::row("mcp.updated", &["name"], &[])
);

pub const DELETE: Method = method!(
    "mcp.delete",
    "Removes an MCP server and its approvals. A server in the configuration file must be removed there.",
    Some(Scope::Admin),
    delete(NameParams) -> Done,
    errors: [NotFound, Conflict, ConfirmationRequired],
    audit: Audit::row("mcp.deleted", &["name"], &[])
);

pub const TEST: Method = method!(
    "mcp.test",
    "Asks an MCP server for its tools, starting it first if it is not connected. Other nodes start it again if it \
     is not connected there.",
    Some(Scope::Write),
    test(NameParams) -> McpServer,
    errors: [NotFound],
    audit: Audit::Unrecorded("asks a server for its tools")
);

pub const APPROVE: Method = method!(
    "mcp.approve",
    "Approves tools of an MCP server in the form that it offers now.",
    Some(Scope::Admin),
    approve(ApproveParams) -> McpServer,
    errors: [NotFound, Conflict],
    audit: Audit::Transaction("mcp.approved")
);

pub const RESTART: Method = method!(
    "mcp.restart",
    "Stops an MCP server on every node, starts it again, and waits until it is connected or has failed on the node \
     that answers.",
    Some(Scope::Write),
    restart(NameParams) -> McpServer,
    errors: [NotFound],
    audit: Audit::row("mcp.restarted", &["name"], &[]).outside()
);

/// Result of `mcp.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The servers, by name.
    pub servers: Vec<McpServer>,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

fn key(name: &str, last: &str) -> String {
    format!("mcp.servers.{name}.{last}")
}

async fn list(call: Call, params: PageParams) -> Result<ListResult, Problem> {
    let services = &call.services;
    let mcp = services.tools.mcp();
    let (page, next_cursor) = by_name(mcp.status(), &params, |status| &status.name)?;
    let authorizations = mcp.authorizations().await?;
    let with = |status: McpStatus| {
        let authorization = authorizations.get(&status.name);
        shown_with(services, status, authorization)
    };
    Ok(ListResult {
        servers: page.into_iter().map(with).collect(),
        next_cursor,
    })
}

async fn create(call: Call, params: CreateParams) -> Result<McpServer, Problem> {
    let name = params.name;
    let exists = call.services.config.resolved();
    if exists.settings.mcp.servers.contains_key(&name) {
        let message = "An MCP server with this name already exists.";
        return Err(Problem::new(ErrorCode::Conflict, message));
    }
    if params.command.is_none() && params.url.is_none() {
        let reason = "give a `command` or a `url`";
        return Err(Problem::invalid_params("command", reason));
    }
    let values = [
        ("command", params.command.map(Value::from)),
        ("url", params.url.map(Value::from)),
        ("args", params.args.map(Value::from)),
        ("env", params.env.map(Value::from)),
        ("headers", params.headers.map(Value::from)),
    ];
    let values = values.into_iter();
    let values = values.filter_map(|(last, value)| Some((key(&name, last), value?)));
    let mcp = call.services.tools.mcp();
    // The configuration file may have contained a server of this name.
    mcp.forget(&name).await.map_err(to_problem)?;
    change_fields(&call, values.collect(), param_of).await?;
    let settled = mcp.settled(&name).await;
    shown(&call.services, settled.map_err(to_problem)?).await
}

/// Returns the param that sets this setting of a server.
fn param_of(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

async fn update(call: Call, params: UpdateParams) -> Result<McpServer, Problem> {
    let name = params.name;
    let mcp = call.services.tools.mcp();
    mcp.find(&name).map_err(to_problem)?;
    let is_set = |value: &Option<Option<Value>>| matches!(value, Some(Some(_)));
    let (to_url, to_command) = (is_set(&params.url), is_set(&params.command));
    let cleared = |is_replaced: bool, value: Option<Option<Value>>| match value {
        None if is_replaced => Some(None),
        value => value,
    };
    let values = [
        ("command", cleared(to_url, params.command)),
        ("url", cleared(to_command, params.url)),
        ("args", cleared(to_url, params.args)),
        ("env", cleared(to_url, params.env)),
        ("headers", params.headers),
    ];
    let values = values.into_iter().filter_map(|(last, value)| {
        let value = value?.unwrap_or(Value::Null);
        Some((key(&name, last), value))
    });
    // Each step must leave a valid server. Values are therefore removed first, in reverse order.
    let (mut values, added): (Vec<_>, Vec<_>) = values.partition(|(_, value)| value.is_null());
    values.reverse();
    values.extend(added);
    change_fields(&call, values, param_of).await?;
    let started = mcp.restart_here(&name).await;
    shown(&call.services, started.map_err(to_problem)?).await
}

async fn delete(call: Call, NameParams { name }: NameParams) -> Result<Done, Problem> {
    let mcp = call.services.tools.mcp();
    mcp.find(&name).map_err(to_problem)?;
    if is_fixed(&call.services, &name) {
        return Err(Problem::new(
            ErrorCode::Conflict,
            "This MCP server is defined in the configuration file or the environment. Nothing was \
             changed. Remove it there.",
        ));
    }
    let parts = ["headers", "env", "args", "command", "url"];
    let values = parts.map(|last| (key(&name, last), Value::Null));
    change(&call, values.into()).await?;
    mcp.disconnect_deleted(&call.actor(), &name).await;
    mcp.forget(&name).await.map_err(to_problem)?;
    Ok(DONE)
}

async fn test(call: Call, NameParams { name }: NameParams) -> Result<McpServer, Problem> {
    let tested = call.services.tools.mcp().test(&name).await;
    shown(&call.services, tested.map_err(to_problem)?).await
}

async fn restart(call: Call, NameParams { name }: NameParams) -> Result<McpServer, Problem> {
    let started = call.services.tools.mcp().restart(&name).await;
    shown(&call.services, started.map_err(to_problem)?).await
}

async fn approve(call: Call, params: ApproveParams) -> Result<McpServer, Problem> {
    let (tools, digest) = (params.tools.as_deref(), params.digest.as_deref());
    let mcp = call.services.tools.mcp();
    let approved = mcp
        .approve(&call.actor(), &params.name, tools, digest)
        .await
        .map_err(to_problem)?;
    shown(&call.services, approved).await
}
