//! `tools.*`: the tools that agents can be allowed to call.

use super::page::{PageParams, by_name};
use crate::method_entry::{Call, Method, method};
use gatehouse_agents::Audience;
use gatehouse_domain::{Problem, Scope, visible};
use schemars::JsonSchema;
use serde::Serialize;
use std::future::{Ready, ready};

pub const LIST: Method = method!(
    "tools.list",
    "Lists the available tools by name: the built-in ones and those of running MCP servers.",
    Some(Scope::Read),
    list(PageParams) -> ListResult
);

/// Result of `tools.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The tools, by name.
    pub tools: Vec<ToolInfo>,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A tool.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ToolInfo {
    /// The name, as used in `allow` and `deny`.
    pub name: String,
    /// The description that models receive. Characters that hide or reorder text are escaped, such as
    /// `\u{202E}`.
    pub description: String,
    /// The turns that may use the tool.
    pub audience: ToolAudience,
    /// The MCP server that provides the tool; absent for a built-in tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_server: Option<String>,
}

/// The turns that may use a tool.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolAudience {
    /// Every turn, including one started by a webhook.
    Public,
    /// Only turns started by a caller who may change things on this server.
    Trusted,
}

impl From<Audience> for ToolAudience {
    fn from(audience: Audience) -> Self {
        match audience {
            Audience::Public => Self::Public,
            Audience::Trusted => Self::Trusted,
        }
    }
}

/// Returns the server of a group: the tools of an MCP server have the group `mcp:<server>`.
fn server_of(group: String) -> String {
    match group.strip_prefix("mcp:") {
        Some(server) => server.to_owned(),
        None => group,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of a handler")]
fn list(call: Call, params: PageParams) -> Ready<Result<ListResult, Problem>> {
    let all = call.services.agents.tools().all_with_groups();
    let tools = all.into_iter().map(|(group, tool)| ToolInfo {
        name: tool.name().to_owned(),
        description: visible::lines(tool.description()).text.into_owned(),
        audience: tool.audience().into(),
        mcp_server: group.map(server_of),
    });
    let page = by_name(tools.collect(), &params, |tool| &tool.name);
    ready(page.map(|(tools, next_cursor)| ListResult { tools, next_cursor }))
}
