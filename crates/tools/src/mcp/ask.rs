//! The connected servers, and a single request to a server with a time limit.

use gatehouse_agents::ToolError;
use rmcp::RoleClient;
use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::{Peer, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use std::collections::BTreeMap;
use std::error::Error;
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

/// The time limit for a request.
pub(super) const TIME: Duration = Duration::from_mins(3);
/// The time limit for a list.
pub(super) const LIST_TIME: Duration = Duration::from_secs(30);

/// Whether a request that the server may have processed can be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    /// The request only reads.
    Safe,
    /// The request could take effect twice.
    Unsafe,
}

impl Repeat {
    /// Returns the sentence for the failure of a request that the server may have processed.
    const fn outcome(self) -> &'static str {
        match self {
            Self::Safe => "",
            Self::Unsafe => {
                " It is not known whether the call took effect. Check that before you repeat it."
            }
        }
    }
}

/// Waits for the response to a request. Dropping the future notifies the server that the request is canceled.
pub(super) async fn ask<T>(
    server: &str,
    peer: &Peer<RoleClient>,
    request: impl Future<Output = Result<T, ServiceError>>,
    repeat: Repeat,
) -> Result<T, ToolError> {
    if peer.is_transport_closed() {
        return Err(failed(server, RESTARTING));
    }
    let what = match timeout(TIME, request).await {
        Ok(Ok(answer)) => return Ok(answer),
        Ok(Err(ServiceError::McpError(error))) if !is_of_lost_session(&error) => {
            return Err(ToolError::new(format!(
                "The MCP server {server} refused: {}",
                crate::text::one_line(&error.message, 1000)
            )));
        }
        Err(_) => "did not respond in time",
        Ok(Err(ServiceError::TransportSend(error))) if was_not_sent(&*error.error) => {
            return Err(failed(server, RESTARTING));
        }
        Ok(Err(
            ServiceError::TransportClosed
            | ServiceError::TransportSend(_)
            | ServiceError::McpError(_),
        )) => match repeat {
            Repeat::Safe => RESTARTING,
            Repeat::Unsafe => "returned no response",
        },
        Ok(Err(error)) => {
            tracing::debug!(server, %error, "a request to an MCP server failed");
            "is unavailable or returned an invalid response"
        }
    };
    let mut failure = failed(server, what);
    failure.message.push_str(repeat.outcome());
    Err(failure)
}

/// Returns whether this is the library's error for a call that waited for its response when the session expired and
/// another one began. The server did not send this error, and may have processed the call. In rmcp 3.9, the error is
/// recognizable only by its text (`fail_pending_stream_responses`).
fn is_of_lost_session(error: &ErrorData) -> bool {
    error.code == ErrorCode::INTERNAL_ERROR
        && error.message == "streamable HTTP session was re-initialized before the response arrived"
}

/// Returns whether an HTTP request failed before there was a connection. The server did not receive such a request.
fn was_not_sent(error: &(dyn Error + Send + Sync + 'static)) -> bool {
    matches!(
        error.downcast_ref(),
        Some(StreamableHttpError::<reqwest::Error>::Client(error)) if error.is_connect()
    )
}

/// Why a server without a connection does not respond.
pub(super) const RESTARTING: &str = "is restarting; try again in a moment";

pub(super) fn failed(server: &str, what: &str) -> ToolError {
    ToolError::new(format!("The MCP server {server} {what}."))
}
