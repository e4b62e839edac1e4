//! Handles a server's notifications. The client offers no capabilities: no sampling, roots or elicitation.

use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};
use std::sync::Arc;
use tokio::sync::Notify;

/// Receives the notifications of one server.
pub(super) struct Listener {
    server: String,
    changed: Arc<Notify>,
}

impl Listener {
    pub(super) fn new(server: String) -> Self {
        Self {
            server,
            changed: Arc::new(Notify::new()),
        }
    }

    /// Notified when the server's tools, resources or prompts change.
    pub(super) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }
}

impl ClientHandler for Listener {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        tracing::debug!(server = %self.server, "an MCP server's tools changed");
        self.changed.notify_one();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        tracing::debug!(server = %self.server, "an MCP server's resources changed");
        self.changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        tracing::debug!(server = %self.server, "an MCP server's prompts changed");
        self.changed.notify_one();
    }
}
