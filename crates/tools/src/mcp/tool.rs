//! A server's tool as agents see it.

use super::ask::{Repeat, TIME, ask, failed};
use super::content::Content;
use super::known_resources::KnownResources;
use super::status::ToolForm;
use crate::files::FileReader;
use futures_util::future::BoxFuture;
use gatehouse_agents::{Audience, Effect, Tool, ToolContext, ToolError};
use rmcp::RoleClient;
use rmcp::model::{CallToolRequestParams, CallToolResponse};
use rmcp::service::Peer;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The operation of a call.
pub(super) enum Kind {
    /// Calls the server's tool.
    Own,
    /// Lists the server's resources.
    ListResources(Arc<KnownResources>),
    /// Reads a resource of the server.
    ReadResource(Arc<KnownResources>),
}

/// A tool of an MCP server.
pub(super) struct McpTool {
    pub(super) kind: Kind,
    pub(super) name: String,
    /// The name used by earlier versions.
    pub(super) former_name: String,
    /// The server's name for the tool.
    pub(super) remote_name: String,
    pub(super) server: String,
    /// The description without characters that control terminals or change the text direction.
    pub(super) description: String,
    /// The description that a person approves, with those characters.
    pub(super) described: String,
    pub(super) parameters: Value,
    pub(super) hints: Hints,
    pub(super) peer: Peer<RoleClient>,
    /// Reads files that the server returns.
    pub(super) reader: Arc<FileReader>,
}

/// A server's hints about a tool's effects (MCP 2025-06-18, `ToolAnnotations`). `None` if the server gives no hint. A
/// hint is used only because a person approved it with the rest of the tool.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Hints {
    /// The tool changes nothing.
    pub(super) read_only_hint: Option<bool>,
    /// The tool reaches systems that were not chosen beforehand, such as the web.
    pub(super) open_world_hint: Option<bool>,
}

impl McpTool {
    /// Returns the form that a person approves.
    pub(super) fn form(&self) -> ToolForm {
        // A server may list the members in a different order each time, so they are sorted.
        let mut parameters = self.parameters.clone();
        parameters.sort_all_objects();
        ToolForm {
            description: self.described.clone(),
            parameters,
            read_only: self.hints.read_only_hint,
            open_world: self.hints.open_world_hint,
        }
    }

    async fn run(&self, context: &ToolContext, input: Value) -> Result<String, ToolError> {
        let Value::Object(arguments) = input else {
            return Err(ToolError::new("The input must be an object."));
        };
        match &self.kind {
            Kind::Own => self.call_own(context, arguments).await,
            Kind::ListResources(known) => self.list_resources(known, &arguments).await,
            Kind::ReadResource(_) => self.read_resource(&context.files, &arguments).await,
        }
    }

    async fn call_own(
        &self,
        context: &ToolContext,
        arguments: Map<String, Value>,
    ) -> Result<String, ToolError> {
        let params = CallToolRequestParams::new(self.remote_name.clone()).with_arguments(arguments);
        let calling = self.peer.call_tool_once(params);
        let repeat = match self.hints.read_only_hint {
            Some(true) => Repeat::Safe,
            _ => Repeat::Unsafe,
        };
        match ask(&self.server, &self.peer, calling, repeat).await? {
            CallToolResponse::Complete(result) => {
                let mut converted = Content::new(&self.reader, &self.remote_name);
                let text = converted.answer(&result).await?;
                converted.keep(&context.files);
                Ok(text)
            }
            _ => Err(failed(
                &self.server,
                "requested further input, which is not supported",
            )),
        }
    }
}

impl fmt::Debug for McpTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("McpTool").field(&self.name).finish()
    }
}

impl Tool for McpTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn former_name(&self) -> Option<&str> {
        Some(&self.former_name)
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn parameters(&self) -> Value {
        self.parameters.clone()
    }

    fn audience(&self) -> Audience {
        Audience::Trusted
    }

    /// Returns the effect. A tool without the read-only hint counts as a tool that changes
    /// something.
    fn effect(&self, input: &Value, has_private: bool) -> Effect {
        if let Kind::ReadResource(known) = &self.kind {
            known.effect_of_read(input, has_private)
        } else if self.hints.read_only_hint != Some(true) {
            Effect::Change
        } else if has_private && self.hints.open_world_hint == Some(true) {
            Effect::Reveal
        } else {
            Effect::None
        }
    }

    fn time_limit(&self) -> Duration {
        TIME + Duration::from_secs(1)
    }

    fn call<'a>(
        &'a self,
        context: &'a ToolContext,
        input: Value,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(self.run(context, input))
    }
}
