//! Lists a server's resources and prompts, and keeps the usable ones.

use super::offers::{McpArgument, McpOffers, McpPrompt, McpResource};
use super::pages::entries;
use crate::text::one_line;
use gatehouse_domain::visible;
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, Extensions, ListPromptsRequest, ListPromptsRequestMethod,
    ListResourceTemplatesRequest, ListResourceTemplatesRequestMethod, ListResourcesRequest,
    ListResourcesRequestMethod, PaginatedRequestParams, ServerCapabilities,
};
use rmcp::service::Peer;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Limit on the resources of a server, and on its templates.
const MAX_RESOURCES: usize = 1000;
/// Limit on the prompts of a server.
const MAX_PROMPTS: usize = 200;
/// Limit on the arguments of a prompt.
const MAX_ARGUMENTS: usize = 20;
/// The longest URI, in characters.
pub(super) const MAX_URI: usize = 2000;
/// The longest name of a prompt or an argument, in characters.
const MAX_NAME: usize = 200;
/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 500;

/// A resource or a template in its wire format.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawResource {
    #[serde(alias = "uriTemplate")]
    uri: String,
    #[serde(default)]
    name: String,
    title: Option<String>,
    description: Option<String>,
    mime_type: Option<String>,
    size: Option<u64>,
}

/// A prompt in its wire format.
#[derive(Deserialize)]
struct RawPrompt {
    name: String,
    title: Option<String>,
    description: Option<String>,
    arguments: Option<Vec<RawArgument>>,
}

#[derive(Deserialize)]
struct RawArgument {
    name: String,
    title: Option<String>,
    description: Option<String>,
    #[serde(default)]
    required: Option<bool>,
}

/// Lists the resources and prompts of a server. If a list fails, it is empty.
pub(super) async fn offers(
    server: &str,
    peer: &Peer<RoleClient>,
    capabilities: &ServerCapabilities,
) -> McpOffers {
    let mut offers = McpOffers::default();
    if capabilities.resources.is_some() {
        offers.resources = or_none(server, resources(server, peer).await);
    }
    if capabilities.prompts.is_some() {
        offers.prompts = or_none(server, prompts(server, peer).await);
    }
    offers
}

fn or_none<T>(server: &str, listed: Result<Vec<T>, String>) -> Vec<T> {
    listed.unwrap_or_else(|error| {
        tracing::warn!(
            server,
            error,
            "resources or prompts of an MCP server cannot be listed"
        );
        Vec::new()
    })
}

/// Lists the resources and the templates, by URI.
pub(super) async fn resources(
    server: &str,
    peer: &Peer<RoleClient>,
) -> Result<Vec<McpResource>, String> {
    let plain = |params| {
        ClientRequest::ListResourcesRequest(ListResourcesRequest {
            method: ListResourcesRequestMethod,
            params: Some(params),
            extensions: Extensions::default(),
        })
    };
    let templates = |params| {
        ClientRequest::ListResourceTemplatesRequest(ListResourceTemplatesRequest {
            method: ListResourceTemplatesRequestMethod,
            params: Some(params),
            extensions: Extensions::default(),
        })
    };
    let listed = listed(server, peer, "resources", MAX_RESOURCES, plain).await?;
    // Some servers have no templates.
    let made = listed_templates(server, peer, templates).await;
    let usable = listed.into_iter().map(|raw| resource(raw, false));
    let usable = usable.chain(made.into_iter().map(|raw| resource(raw, true)));
    let mut by_uri = BTreeMap::new();
    for resource in usable {
        match resource {
            Ok(resource) => {
                by_uri.entry(resource.uri.clone()).or_insert(resource);
            }
            Err(reason) => tracing::warn!(server, reason, "an MCP resource was ignored"),
        }
    }
    Ok(by_uri.into_values().collect())
}

async fn listed_templates(
    server: &str,
    peer: &Peer<RoleClient>,
    request: impl Fn(PaginatedRequestParams) -> ClientRequest,
) -> Vec<Value> {
    let templates = listed(server, peer, "resourceTemplates", MAX_RESOURCES, request);
    templates.await.unwrap_or_else(|error| {
        tracing::debug!(server, error, "an MCP server lists no resource templates");
        Vec::new()
    })
}

async fn listed(
    server: &str,
    peer: &Peer<RoleClient>,
    field: &str,
    max: usize,
    request: impl Fn(PaginatedRequestParams) -> ClientRequest,
) -> Result<Vec<Value>, String> {
    let (listed, has_more) = entries(peer, (field, max), request).await?;
    if has_more {
        tracing::warn!(
            server,
            "a list of an MCP server is too long ({field}): the rest is ignored"
        );
    }
    Ok(listed)
}

fn resource(raw: Value, is_template: bool) -> Result<McpResource, &'static str> {
    let raw: RawResource = serde_json::from_value(raw).map_err(|_| "it is not a resource")?;
    let is_clean = |c: char| !c.is_whitespace() && !visible::hides(c);
    if raw.uri.is_empty() || raw.uri.chars().nth(MAX_URI).is_some() {
        return Err("its URI is empty or too long");
    }
    if !raw.uri.chars().all(is_clean) {
        return Err("its URI contains spaces or invisible characters");
    }
    Ok(McpResource {
        name: one_line(&raw.name, MAX_NAME),
        title: raw.title.map(|title| one_line(&title, MAX_NAME)),
        description: raw.description.map(|text| one_line(&text, MAX_DESCRIPTION)),
        media_type: raw.mime_type.map(|kind| one_line(&kind, 100)),
        size: raw.size,
        uri: raw.uri,
        is_template,
    })
}

async fn prompts(server: &str, peer: &Peer<RoleClient>) -> Result<Vec<McpPrompt>, String> {
    let request = |params| {
        ClientRequest::ListPromptsRequest(ListPromptsRequest {
            method: ListPromptsRequestMethod,
            params: Some(params),
            extensions: Extensions::default(),
        })
    };
    let listed = listed(server, peer, "prompts", MAX_PROMPTS, request).await?;
    let mut by_name = BTreeMap::new();
    for raw in listed {
        match prompt(raw) {
            Ok(prompt) => {
                by_name.entry(prompt.name.clone()).or_insert(prompt);
            }
            Err(reason) => tracing::warn!(server, reason, "an MCP prompt was ignored"),
        }
    }
    Ok(by_name.into_values().collect())
}

fn prompt(raw: Value) -> Result<McpPrompt, &'static str> {
    let raw: RawPrompt = serde_json::from_value(raw).map_err(|_| "it is not a prompt")?;
    let arguments = raw.arguments.unwrap_or_default();
    if arguments.len() > MAX_ARGUMENTS {
        return Err("it has too many arguments");
    }
    let names = arguments.iter().map(|argument| &argument.name);
    if !names.chain([&raw.name]).all(|name| is_name(name)) {
        return Err("a name is empty, too long, or contains invisible characters");
    }
    let arguments = arguments.into_iter().map(|argument| McpArgument {
        name: argument.name,
        title: argument.title.map(|title| one_line(&title, MAX_NAME)),
        description: argument
            .description
            .map(|text| one_line(&text, MAX_DESCRIPTION)),
        required: argument.required == Some(true),
    });
    Ok(McpPrompt {
        name: raw.name,
        title: raw.title.map(|title| one_line(&title, MAX_NAME)),
        description: raw.description.map(|text| one_line(&text, MAX_DESCRIPTION)),
        arguments: arguments.collect(),
    })
}

fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && name.chars().nth(MAX_NAME).is_none() && visible::is_name(name)
}

#[cfg(test)]
mod tests;
