//! Lists a server's tools and keeps the usable ones.

use super::known_resources::KnownResources;
use super::names::{former_name, full_name};
use super::pages::entries;
use super::resources;
use super::schema;
use super::tool::{Hints, Kind, McpTool};
use crate::files::FileReader;
use crate::text;
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, Extensions, ListToolsRequest, ListToolsRequestMethod, ServerCapabilities,
};
use rmcp::service::Peer;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Limit on the tools of a server.
const MAX_TOOLS: usize = 200;
/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 4000;

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

/// Lists all usable tools and logs the others. `known` is set if the server has resources, which adds tools for them.
pub(super) async fn tools(
    server: &str,
    (peer, reader): (&Peer<RoleClient>, &Arc<FileReader>),
    (capabilities, known): (&ServerCapabilities, Option<&Arc<KnownResources>>),
) -> Result<Vec<McpTool>, ()> {
    let request = |params| {
        ClientRequest::ListToolsRequest(ListToolsRequest {
            method: ListToolsRequestMethod,
            params: Some(params),
            extensions: Extensions::default(),
        })
    };
    let offers_others = capabilities.resources.is_some() || capabilities.prompts.is_some();
    let (listed, has_more) = match entries(peer, ("tools", MAX_TOOLS), request).await {
        Ok(listed) => listed,
        Err(_) if capabilities.tools.is_none() && offers_others => (Vec::new(), false),
        Err(error) => {
            tracing::debug!(server, error, "the tools of an MCP server cannot be listed");
            return Err(());
        }
    };
    if has_more {
        tracing::warn!(
            server,
            "an MCP server has more than {MAX_TOOLS} tools: the rest is ignored"
        );
    }
    let listed = listed.into_iter();
    let mut listed: Vec<_> = listed
        .map(|raw| usable(server, raw, (peer, reader)))
        .collect();
    if let Some(known) = known {
        let added = resources::tools(server, (peer, reader), known);
        listed.extend(added.map(Ok));
    }
    let (mut names, mut tools) = (BTreeSet::new(), Vec::new());
    for tool in listed {
        match tool {
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
        kind: Kind::Own,
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
