//! Reads and publishes the tools of a server.

use super::ServerError;
use crate::mcp::{
    ask::LIST_TIME,
    catalogue,
    known_resources::KnownResources,
    listing,
    offers::McpOffers,
    review,
    server::{Server, group},
    status::{McpState, McpStatus},
};
use gatehouse_agents::Tool;
use rmcp::{RoleClient, model::ServerCapabilities, service::Peer};
use std::sync::Arc;
use tokio::time::timeout;

impl Server {
    /// Lists a server's tools, resources and prompts, reviews the tools, and publishes the approved ones. Returns
    /// whether the audit log already contains the differences.
    pub(super) async fn publish(
        &self,
        peer: &Peer<RoleClient>,
        known: &Arc<KnownResources>,
        is_noted: bool,
    ) -> Result<bool, ServerError> {
        let info = peer.peer_info();
        let capabilities = info.map(|info| info.capabilities.clone());
        let capabilities = capabilities.unwrap_or_default();
        let offers = self.offers(peer, &capabilities).await;
        known.replace(&offers.resources);
        // Some SDKs state the capability even for servers without resources.
        let known = Some(known).filter(|_| !offers.resources.is_empty());
        let with = (peer, &self.dependencies.files);
        let listing = listing::tools(&self.name, with, (&capabilities, known));
        let listed = timeout(LIST_TIME, listing).await;
        let Ok(Ok(mut tools)) = listed else {
            return Err(ServerError::List);
        };
        let reviewed = review::review(&self.dependencies, &self.name, &tools).await;
        let reviewed = reviewed.map_err(ServerError::Store)?;
        tools.retain(|tool| reviewed.admits(tool));
        let count = tools.len();
        let tools = tools
            .into_iter()
            .map(|tool| Arc::new(tool) as Arc<dyn Tool>);
        (self.dependencies.publish)(&group(&self.name), tools.collect());
        let is_changed = !reviewed.pending().is_empty();
        if is_changed && !is_noted {
            tracing::warn!(
                server = %self.name,
                tools = ?reviewed.pending(),
                "tools of an MCP server differ from what was approved and are not offered"
            );
            let noted = review::note_change(&self.dependencies, &self.name, &reviewed);
            noted.await.map_err(ServerError::Store)?;
        }
        tracing::info!(server = %self.name, tools = count, "connected to an MCP server");
        self.dependencies.board.set(McpStatus {
            state: McpState::Connected,
            tools: count,
            listed: reviewed.tools,
            digest: reviewed.digest,
            offers: Arc::new(offers),
            ..self.status()
        });
        Ok(is_changed)
    }

    /// Lists the resources and prompts. A failure is not an error, because the server's tools still
    /// work.
    async fn offers(
        &self,
        peer: &Peer<RoleClient>,
        capabilities: &ServerCapabilities,
    ) -> McpOffers {
        let listing = catalogue::offers(&self.name, peer, capabilities);
        timeout(LIST_TIME, listing).await.unwrap_or_else(|_| {
            tracing::warn!(server = %self.name, "an MCP server did not list its resources or prompts in time");
            McpOffers::default()
        })
    }
}
