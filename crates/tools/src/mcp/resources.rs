//! The tools with which agents list and read a server's resources.

use super::ask::{LIST_TIME, RESTARTING, Repeat, ask, failed};
use super::catalogue::{self, MAX_URI};
use super::content::Content;
use super::known_resources::KnownResources;
use super::names::{former_name, full_name};
use super::offers::McpResource;
use super::tool::{Hints, Kind, McpTool};
use crate::files::FileReader;
use gatehouse_agents::{MAX_OUTPUT_BYTES, ReturnedFiles, ToolError};
use rmcp::RoleClient;
use rmcp::model::{ReadResourceRequestParams, ReadResourceResponse};
use rmcp::service::Peer;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use tokio::time::timeout;

/// The space in a list for the note that there are more entries.
const NOTE_BYTES: usize = 100;

/// Returns the two tools. Approvals store their descriptions and schemas, so a change of these texts needs a new
/// approval for each server.
pub(super) fn tools(
    server: &str,
    (peer, reader): (&Peer<RoleClient>, &Arc<FileReader>),
    known: &Arc<KnownResources>,
) -> [McpTool; 2] {
    let tool = |name: &str, description: &str, properties: Value, required: &[&str], kind: Kind| {
        let open_world = matches!(kind, Kind::ReadResource(_)).then_some(true);
        McpTool {
            name: full_name(server, name),
            former_name: former_name(server, name),
            remote_name: name.to_owned(),
            server: server.to_owned(),
            description: description.to_owned(),
            described: description.to_owned(),
            parameters: json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            }),
            hints: Hints {
                read_only_hint: Some(true),
                open_world_hint: open_world,
            },
            peer: peer.clone(),
            reader: Arc::clone(reader),
            kind,
        }
    };
    let search = json!({
        "type": "string",
        "maxLength": 200,
        "description": "Only resources whose URI, name or description contains this text.",
    });
    let uri = json!({
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_URI,
        "description": "A URI from the list, or a template with its parts in braces replaced.",
    });
    [
        tool(
            "list_resources",
            "Lists the resources of this server, such as documents and records, one JSON object per line.",
            json!({ "search": search }),
            &[],
            Kind::ListResources(Arc::clone(known)),
        ),
        tool(
            "read_resource",
            "Reads a resource of this server.",
            json!({ "uri": uri }),
            &["uri"],
            Kind::ReadResource(Arc::clone(known)),
        ),
    ]
}

impl McpTool {
    /// Lists the resources that contain the searched text.
    pub(super) async fn list_resources(
        &self,
        known: &KnownResources,
        arguments: &Map<String, Value>,
    ) -> Result<String, ToolError> {
        if self.peer.is_transport_closed() {
            return Err(failed(&self.server, RESTARTING));
        }
        let listing = timeout(LIST_TIME, catalogue::resources(&self.server, &self.peer));
        let Ok(Ok(all)) = listing.await else {
            return Err(failed(&self.server, "did not list its resources"));
        };
        known.replace(&all);
        let search = arguments.get("search").and_then(Value::as_str);
        Ok(lines(&all, search.unwrap_or_default()))
    }

    /// Reads one resource.
    pub(super) async fn read_resource(
        &self,
        files: &ReturnedFiles,
        arguments: &Map<String, Value>,
    ) -> Result<String, ToolError> {
        let uri = arguments.get("uri").and_then(Value::as_str);
        let params = ReadResourceRequestParams::new(uri.unwrap_or_default());
        let reading = self.peer.read_resource_once(params);
        match ask(&self.server, &self.peer, reading, Repeat::Safe).await? {
            ReadResourceResponse::Complete(result) => {
                let mut content = Content::new(&self.reader, &self.remote_name);
                let text = content.resources(&result.contents).await;
                content.keep(files);
                Ok(text)
            }
            _ => Err(failed(
                &self.server,
                "requested further input, which is not supported",
            )),
        }
    }
}

fn lines(all: &[McpResource], search: &str) -> String {
    let search = search.to_lowercase();
    let contains = |text: &str| text.to_lowercase().contains(&search);
    let is_found = |resource: &&McpResource| {
        let texts = [&resource.title, &resource.description];
        let mut texts = texts.into_iter().flatten();
        contains(&resource.uri) || contains(&resource.name) || texts.any(|text| contains(text))
    };
    let found: Vec<&McpResource> = all.iter().filter(is_found).collect();
    if found.is_empty() {
        return format!("No resource found among {}.", all.len());
    }
    let mut text = String::new();
    for (count, resource) in found.iter().enumerate() {
        let line = serde_json::to_string(resource).unwrap_or_default();
        if text.len() + line.len() + NOTE_BYTES > MAX_OUTPUT_BYTES {
            let left = found.len() - count;
            let _ = writeln!(text, "[{left} more: use `search`]");
            break;
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(uri: &str, description: Option<&str>) -> McpResource {
        McpResource {
            uri: uri.to_owned(),
            is_template: uri.contains('{'),
            name: "n".to_owned(),
            title: None,
            description: description.map(str::to_owned),
            media_type: None,
            size: None,
        }
    }

    #[test]
    fn a_list_is_searched_and_ends_at_the_limit() {
        let all = [
            resource("file:///a", Some("Plan of Ä")),
            resource("file:///{b}", None),
        ];
        let a = "{\"uri\":\"file:///a\",\"name\":\"n\",\"description\":\"Plan of Ä\"}\n";
        let b = "{\"uri\":\"file:///{b}\",\"template\":true,\"name\":\"n\"}\n";
        assert_eq!(lines(&all, ""), format!("{a}{b}"));
        assert_eq!(lines(&all, "plan of ä"), a);
        assert_eq!(lines(&all, "///{"), b);
        assert_eq!(lines(&all, "none"), "No resource found among 2.");
        let many: Vec<McpResource> = (0..1000)
            .map(|n| resource(&format!("file:///{n:03}"), Some(&"x".repeat(100))))
            .collect();
        let text = lines(&many, "");
        assert!(text.len() <= MAX_OUTPUT_BYTES);
        let shown = text.lines().count() - 1;
        let note = format!("[{} more: use `search`]", 1000 - shown);
        assert_eq!(text.lines().last(), Some(note.as_str()));
    }
}
