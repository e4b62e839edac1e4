//! Lists a server's tools and keeps the usable ones.

use super::names::{former_name, full_name};
use super::schema;
use super::tool::{Hints, McpTool};
use crate::files::FileReader;
use crate::text;
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, CustomResult, Extensions, ListToolsRequest, ListToolsRequestMethod,
    PaginatedRequestParams, ServerResult,
};
use rmcp::service::Peer;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Limit on the pages of a list.
const MAX_PAGES: usize = 50;
/// Limit on the tools of a server.
const MAX_TOOLS: usize = 200;
/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 4000;

/// A page in its wire format. The library's own type would reject the whole page for one invalid tool.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawPage {
    tools: Vec<Value>,
    next_cursor: Option<String>,
}

/// A tool in its wire format.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawTool {
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    input_schema: Value,
    #[serde(default)]
    annotations: Option<Hints>,
}

/// Lists all usable tools and logs the others.
pub(super) async fn tools(
    server: &str,
    peer: &Peer<RoleClient>,
    reader: &Arc<FileReader>,
) -> Result<Vec<McpTool>, ()> {
    let mut listed = Vec::new();
    let mut cursor = None;
    for _ in 0..MAX_PAGES {
        let page = page(peer, cursor).await.map_err(|error| {
            tracing::debug!(server, error, "the tools of an MCP server cannot be listed");
        })?;
        listed.extend(page.tools);
        cursor = page.next_cursor.filter(|cursor| !cursor.is_empty());
        if cursor.is_none() || listed.len() > MAX_TOOLS {
            break;
        }
    }
    if listed.len() > MAX_TOOLS {
        tracing::warn!(
            server,
            "an MCP server has more than {MAX_TOOLS} tools: the rest is ignored"
        );
    }
    let (mut names, mut tools) = (BTreeSet::new(), Vec::new());
    for raw in listed.into_iter().take(MAX_TOOLS) {
        match usable(server, raw, (peer, reader)) {
            Ok(tool) if names.insert(tool.name.clone()) => tools.push(tool),
            Ok(tool) => {
                tracing::warn!(server, tool = tool.name, "two MCP tools have the same name");
            }
            Err((tool, reason)) => {
                tracing::warn!(server, tool, reason, "an MCP tool was ignored");
            }
        }
    }
    Ok(tools)
}

async fn page(peer: &Peer<RoleClient>, cursor: Option<String>) -> Result<RawPage, String> {
    let params = PaginatedRequestParams::default().with_cursor(cursor);
    let request = ListToolsRequest {
        method: ListToolsRequestMethod,
        params: Some(params),
        extensions: Extensions::default(),
    };
    let answer = peer
        .send_request(ClientRequest::ListToolsRequest(request))
        .await;
    let raw = match answer.map_err(|error| error.to_string())? {
        ServerResult::ListToolsResult(list) => serde_json::to_value(list),
        ServerResult::CustomResult(CustomResult(value)) => Ok(value),
        _ => return Err("an unexpected type of response".to_owned()),
    };
    raw.and_then(serde_json::from_value)
        .map_err(|error| error.to_string())
}

fn usable(
    server: &str,
    raw: Value,
    (peer, reader): (&Peer<RoleClient>, &Arc<FileReader>),
) -> Result<McpTool, (String, &'static str)> {
    let named = raw.get("name").and_then(Value::as_str).unwrap_or_default();
    let name = text::one_line(named, 100);
    let raw: RawTool =
        serde_json::from_value(raw).map_err(|_| (name.clone(), "it is not a tool definition"))?;
    if raw.name.is_empty() || raw.name.chars().nth(256).is_some() {
        return Err((name, "its name is empty or too long"));
    }
    let parameters = schema::checked(&raw.input_schema).map_err(|reason| (name, reason))?;
    let description = raw.description.unwrap_or_default();
    let described = text::cut(&description, MAX_DESCRIPTION).0;
    Ok(McpTool {
        name: full_name(server, &raw.name),
        former_name: former_name(server, &raw.name),
        remote_name: raw.name,
        server: server.to_owned(),
        description: text::readable(described),
        described: text::tidy(described),
        parameters,
        hints: raw.annotations.unwrap_or_default(),
        peer: peer.clone(),
        reader: Arc::clone(reader),
    })
}
