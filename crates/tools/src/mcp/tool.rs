//! A server's tool as agents see it.

use super::content;
use super::status::ToolForm;
use crate::files::FileReader;
use futures_util::future::BoxFuture;
use gatehouse_agents::{Audience, Effect, ReturnedFiles, Tool, ToolContext, ToolError};
use rmcp::RoleClient;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult};
use rmcp::service::{Peer, ServiceError};
use serde::Deserialize;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How long a call may take.
const TIME: Duration = Duration::from_mins(3);
/// How many images of an answer are kept.
const MAX_IMAGES: usize = 4;

/// A tool of an MCP server.
pub(super) struct McpTool {
    pub(super) name: String,
    /// The name used by earlier versions.
    pub(super) former_name: String,
    /// The server's name for it.
    pub(super) remote_name: String,
    pub(super) server: String,
    /// Without characters that control terminals or change the text direction.
    pub(super) description: String,
    /// The description that a person approves, with these characters.
    pub(super) described: String,
    pub(super) parameters: Value,
    pub(super) hints: Hints,
    pub(super) peer: Peer<RoleClient>,
    /// Reads returned images.
    pub(super) reader: Arc<FileReader>,
}

/// What a server says about a tool's effects (MCP 2025-06-18, `ToolAnnotations`). Each is `None` if the server
/// does not say it. They count only because a person approved them with the rest of the tool.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Hints {
    /// It changes nothing.
    pub(super) read_only_hint: Option<bool>,
    /// It reaches systems that were not chosen beforehand, such as the web.
    pub(super) open_world_hint: Option<bool>,
}

impl McpTool {
    /// The form that a person approves.
    pub(super) fn form(&self) -> ToolForm {
        // A server may list the members in another order each time.
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
        let params = CallToolRequestParams::new(self.remote_name.clone()).with_arguments(arguments);
        if self.peer.is_transport_closed() {
            return Err(self.failed("is restarting; try again in a moment"));
        }
        // Dropping the call tells the server that it is cancelled.
        let answer = timeout(TIME, self.peer.call_tool_once(params)).await;
        match answer {
            Err(_) => Err(self.failed("did not respond in time")),
            Ok(Ok(CallToolResponse::Complete(result))) => {
                let text = content::text_of(&result)?;
                self.keep_images(&result, &context.files).await;
                Ok(text)
            }
            Ok(Ok(_)) => Err(self.failed("requested further input, which is not supported")),
            Ok(Err(ServiceError::McpError(error))) => Err(ToolError::new(format!(
                "The MCP server {} refused: {}",
                self.server,
                crate::text::one_line(&error.message, 1000)
            ))),
            Ok(Err(ServiceError::TransportClosed | ServiceError::TransportSend(_))) => {
                Err(self.failed("is restarting; try again in a moment"))
            }
            Ok(Err(error)) => {
                tracing::debug!(server = %self.server, %error, "a call of an MCP tool failed");
                Err(self.failed("is unavailable or returned an invalid response"))
            }
        }
    }

    /// Keeps the images of an answer for models that read images. The text mentions those that cannot be read.
    async fn keep_images(&self, result: &CallToolResult, files: &ReturnedFiles) {
        for (number, data) in (1..).zip(content::images_of(result).take(MAX_IMAGES)) {
            let name = format!("{}-{number}", self.remote_name);
            match self.reader.read(name, data).await {
                Ok(file) if file.picture.is_some() => files.push(file),
                Ok(_) => {}
                Err(error) => {
                    tracing::debug!(server = %self.server, %error, "an image of an MCP tool cannot be read");
                }
            }
        }
    }

    fn failed(&self, what: &str) -> ToolError {
        ToolError::new(format!("The MCP server {} {what}.", self.server))
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

    /// A tool that the server does not call read-only counts as one that changes something.
    fn effect(&self, _input: &Value, has_private: bool) -> Effect {
        if self.hints.read_only_hint != Some(true) {
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
