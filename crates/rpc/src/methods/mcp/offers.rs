//! `mcp.resources`, `mcp.prompts` and `mcp.prompt`: the resources and prompts of MCP servers.

use crate::method_entry::{Audit, Call, Method, method};
use crate::methods::page::{PageParams, by_name};
use gatehouse_domain::{Problem, Scope, input, visible};
use gatehouse_services::to_problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::future::{Ready, ready};

pub const RESOURCES: Method = method!(
    "mcp.resources",
    "Lists the resources of an MCP server and the templates for their URIs. Empty while the server is not connected.",
    Some(Scope::Read),
    resources(ResourcesParams) -> ResourcesResult,
    errors: [NotFound]
);

pub const PROMPTS: Method = method!(
    "mcp.prompts",
    "Lists the prompts of the connected MCP servers.",
    Some(Scope::Read),
    prompts(PageParams) -> PromptsResult
);

pub const PROMPT: Method = method!(
    "mcp.prompt",
    "Asks an MCP server for the text of one of its prompts. Sends nothing to an agent.",
    Some(Scope::Write),
    prompt(PromptParams) -> PromptResult,
    ends_with_caller: true,
    errors: [NotFound, Conflict, ProviderFailed],
    audit: Audit::Unrecorded("asks a server for a text")
);

/// Params of `mcp.resources`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResourcesParams {
    /// The name of the server, as in `mcp.list`.
    name: String,
    /// The maximum number of entries; 50 by default.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<i64>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// Result of `mcp.resources`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResourcesResult {
    /// The resources and templates, by URI.
    pub resources: Vec<McpResource>,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A resource of an MCP server. In its texts, characters that hide or reorder text are escaped, such as `\u{202E}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct McpResource {
    /// The URI, or a template for URIs (RFC 6570).
    pub uri: String,
    /// Whether `uri` is a template.
    pub template: bool,
    /// The server's own name of the resource.
    pub name: String,
    /// The name to show to people, if the server states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The media type, as the server states it.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Size in bytes, as the server states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// Result of `mcp.prompts`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PromptsResult {
    /// The prompts, by server and name.
    pub prompts: Vec<McpPrompt>,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A prompt of an MCP server. In its texts, characters that hide or reorder text are escaped, such as `\u{202E}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct McpPrompt {
    #[serde(skip)]
    key: String,
    /// The name of the server, as in `mcp.list`.
    pub server: String,
    /// The server's own name of the prompt, for `mcp.prompt`.
    pub name: String,
    /// The name to show to people, if the server states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub arguments: Vec<McpArgument>,
}

/// An argument of a prompt.
#[derive(Debug, Serialize, JsonSchema)]
pub struct McpArgument {
    /// The key in `arguments` of `mcp.prompt`.
    pub name: String,
    /// The name to show to people, if the server states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether `mcp.prompt` needs a value for it.
    pub required: bool,
}

/// Params of `mcp.prompt`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptParams {
    /// The name of a connected server, as in `mcp.list`.
    server: String,
    /// The name of the prompt, as in `mcp.prompts`.
    name: String,
    /// Values for the arguments of the prompt, by name, each of at most 10,000 characters.
    #[serde(default, deserialize_with = "input::or_default")]
    arguments: BTreeMap<String, String>,
}

/// Result of `mcp.prompt`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PromptResult {
    /// The text without invisible characters, at most 64 KiB. If the prompt contains answers of the assistant, each
    /// message begins with its role. Images and files are only mentioned.
    pub text: String,
    /// How many invisible characters were removed.
    pub hidden: usize,
}

fn shown(text: &str) -> String {
    visible::line(text).text.into_owned()
}

fn shown_if(text: Option<&String>) -> Option<String> {
    text.map(|text| shown(text))
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of a handler")]
fn resources(call: Call, params: ResourcesParams) -> Ready<Result<ResourcesResult, Problem>> {
    ready(page_of_resources(&call, params))
}

fn page_of_resources(call: &Call, params: ResourcesParams) -> Result<ResourcesResult, Problem> {
    let found = call.services.tools.mcp().find(&params.name);
    let offers = found.map_err(to_problem)?.offers;
    let all = offers.resources.iter();
    let all = all.map(|resource| McpResource {
        uri: resource.uri.clone(),
        template: resource.is_template,
        name: shown(&resource.name),
        title: shown_if(resource.title.as_ref()),
        description: shown_if(resource.description.as_ref()),
        media_type: shown_if(resource.media_type.as_ref()),
        size: resource.size,
    });
    let params = PageParams {
        limit: params.limit,
        cursor: params.cursor,
    };
    let (resources, next_cursor) = by_name(all.collect(), &params, |one| &one.uri)?;
    Ok(ResourcesResult {
        resources,
        next_cursor,
    })
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of a handler")]
fn prompts(call: Call, params: PageParams) -> Ready<Result<PromptsResult, Problem>> {
    let mut all = Vec::new();
    for status in call.services.tools.mcp().status() {
        all.extend(status.offers.prompts.iter().map(|prompt| {
            let arguments = prompt.arguments.iter();
            let arguments = arguments.map(|argument| McpArgument {
                name: argument.name.clone(),
                title: shown_if(argument.title.as_ref()),
                description: shown_if(argument.description.as_ref()),
                required: argument.required,
            });
            McpPrompt {
                // The names of servers contain no slash.
                key: format!("{}/{}", status.name, prompt.name),
                server: status.name.clone(),
                name: prompt.name.clone(),
                title: shown_if(prompt.title.as_ref()),
                description: shown_if(prompt.description.as_ref()),
                arguments: arguments.collect(),
            }
        }));
    }
    all.sort_unstable_by(|a, b| a.key.cmp(&b.key));
    let page = by_name(all, &params, |one| &one.key);
    ready(page.map(|(prompts, next_cursor)| PromptsResult {
        prompts,
        next_cursor,
    }))
}

async fn prompt(call: Call, params: PromptParams) -> Result<PromptResult, Problem> {
    let mcp = call.services.tools.mcp();
    let filled = mcp.prompt(&params.server, &params.name, params.arguments);
    let filled = filled.await.map_err(to_problem)?;
    Ok(PromptResult {
        text: filled.text,
        hidden: filled.hidden,
    })
}
