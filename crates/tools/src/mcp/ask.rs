//! The connected servers, and one request to a server, with a time limit.

use gatehouse_agents::ToolError;
use rmcp::RoleClient;
use rmcp::service::{Peer, ServiceError};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::timeout;

/// The connected servers by name.
#[derive(Default)]
pub(super) struct Peers(Mutex<BTreeMap<String, Peer<RoleClient>>>);

impl Peers {
    pub(super) fn find(&self, server: &str) -> Option<Peer<RoleClient>> {
        self.all().get(server).cloned()
    }

    pub(super) fn insert(&self, server: &str, peer: Peer<RoleClient>) {
        self.all().insert(server.to_owned(), peer);
    }

    pub(super) fn remove(&self, server: &str) {
        self.all().remove(server);
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Peer<RoleClient>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a request may take.
pub(super) const TIME: Duration = Duration::from_mins(3);
/// How long a list may take.
pub(super) const LIST_TIME: Duration = Duration::from_secs(30);

/// Waits for the response to a request. If the future is dropped, the server gets a notification that the request is
/// cancelled.
pub(super) async fn ask<T>(
    server: &str,
    peer: &Peer<RoleClient>,
    request: impl Future<Output = Result<T, ServiceError>>,
) -> Result<T, ToolError> {
    if peer.is_transport_closed() {
        return Err(failed(server, "is restarting; try again in a moment"));
    }
    match timeout(TIME, request).await {
        Err(_) => Err(failed(server, "did not respond in time")),
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(ServiceError::McpError(error))) => Err(ToolError::new(format!(
            "The MCP server {server} refused: {}",
            crate::text::one_line(&error.message, 1000)
        ))),
        Ok(Err(ServiceError::TransportClosed | ServiceError::TransportSend(_))) => {
            Err(failed(server, "is restarting; try again in a moment"))
        }
        Ok(Err(error)) => {
            tracing::debug!(server, %error, "a request to an MCP server failed");
            let what = "is unavailable or returned an invalid response";
            Err(failed(server, what))
        }
    }
}

pub(super) fn failed(server: &str, what: &str) -> ToolError {
    ToolError::new(format!("The MCP server {server} {what}."))
}
