//! The life cycle of one server: start, list its tools, watch for changes, and restart after a failure.

mod offers;

use super::connect::connect;
use super::connect_error::ConnectError;
use super::known_resources::KnownResources;
use super::listener::Listener;
use super::server::Server;
use super::status::{McpState, McpStatus};
use gatehouse_store::StoreError;
use rmcp::RoleClient;
use rmcp::service::RunningService;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// The time limit for the start and the handshake. A program may have to download itself first.
const CONNECT_TIME: Duration = Duration::from_mins(1);
/// The time limit for stopping a server: its input is closed, then it gets SIGTERM, then it is killed.
const CLOSE_TIME: Duration = Duration::from_secs(8);
/// The first retry delay. The delay doubles with each retry.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest retry delay.
const LONGEST_WAIT: Duration = Duration::from_mins(5);
/// The run time after which a failed server is retried as if it had never failed before.
const HEALTHY: Duration = Duration::from_mins(1);
/// The minimum interval between two listings.
const BETWEEN_LISTS: Duration = Duration::from_millis(500);

/// Why a server is unavailable. Shown to people; contains no secrets.
#[derive(Debug, thiserror::Error)]
pub(super) enum ServerError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("it did not respond within {} seconds", CONNECT_TIME.as_secs())]
    TooSlow,
    #[error("its tools cannot be listed")]
    List,
    #[error("the approved tools cannot be read from the database")]
    Store(#[source] StoreError),
    #[error("it ended or closed the connection")]
    Ended,
}

impl Server {
    /// Runs the server until `stop`.
    pub(super) async fn run(self, stop: CancellationToken) {
        let mut failures = 0;
        let mut needs_person = false;
        loop {
            let began = Instant::now();
            // During the next attempt, the web UI still offers to connect an account.
            self.dependencies.board.set(McpStatus {
                is_unauthorized: needs_person,
                ..self.status()
            });
            let end = Box::pin(self.session(&stop)).await;
            self.dependencies.peers.remove(&self.name);
            // The server's tools stay listed, and calls report that the server is restarting. The supervisor removes
            // the tools of a deleted server.
            let error = match end {
                Err(error) if !stop.is_cancelled() => error,
                _ => return,
            };
            if began.elapsed() >= HEALTHY {
                failures = 0;
            }
            let waits_for_vault = matches!(error, ServerError::Connect(ConnectError::Sealed));
            let state = if waits_for_vault {
                McpState::WaitingForVault
            } else {
                McpState::Failed
            };
            tracing::warn!(server = %self.name, %error, "an MCP server is unavailable");
            needs_person = matches!(error, ServerError::Connect(ConnectError::Unauthorized));
            let mut refresh = self.dependencies.refresh.subscribe();
            self.dependencies.board.set(McpStatus {
                state,
                problem: Some(error.to_string()),
                is_unauthorized: needs_person,
                ..self.status()
            });
            let unsealed = self.unsealed(waits_for_vault);
            tokio::select! {
                () = stop.cancelled() => return,
                () = unsealed => {},
                // Another node may have stored an authorization.
                Ok(()) = refresh.changed(), if needs_person => {},
                () = sleep(wait(failures)), if !waits_for_vault => {},
            }
            failures = failures.saturating_add(1);
        }
    }

    /// Starts the server and serves it. Returns an error when the server ends, and `Ok` after
    /// `stop`.
    async fn session(&self, stop: &CancellationToken) -> Result<(), ServerError> {
        let listener = Listener::new(self.name.clone());
        let changed = listener.changed();
        let connecting = timeout(CONNECT_TIME, Box::pin(connect(self, listener)));
        let service = match stop.run_until_cancelled(connecting).await {
            None => return Ok(()),
            Some(connected) => connected.map_err(|_| ServerError::TooSlow)??,
        };
        let (peer, cancel) = (service.peer().clone(), service.cancellation_token());
        self.dependencies.peers.insert(&self.name, peer.clone());
        let mut ended = pin!(end_of(service));
        let mut refresh = self.dependencies.refresh.subscribe();
        let known = Arc::new(KnownResources::default());
        let served = async {
            // There is one audit row per run, even if the server changes its tools several times.
            let mut is_noted = false;
            loop {
                is_noted = self.publish(&peer, &known, is_noted).await?;
                tokio::select! {
                    () = changed.notified() => sleep(BETWEEN_LISTS).await,
                    // The sender exists as long as the gateway.
                    refreshed = refresh.changed() => if refreshed.is_err() { changed.notified().await },
                }
            }
        };
        let outcome = tokio::select! {
            () = stop.cancelled() => Ok(()),
            () = &mut ended => return Err(ServerError::Ended),
            error = served => error,
        };
        cancel.cancel();
        if timeout(CLOSE_TIME, ended).await.is_err() {
            tracing::warn!(server = %self.name, "an MCP server did not end in time");
        }
        outcome
    }

    /// Completes when the vault is no longer sealed, or never if `waits` is false.
    async fn unsealed(&self, waits: bool) {
        let mut status = self.dependencies.parts.secrets.subscribe_status();
        if !waits
            || status
                .wait_for(|status| *status != gatehouse_secrets::Status::Sealed)
                .await
                .is_err()
        {
            std::future::pending::<()>().await;
        }
    }

    /// Returns the status of a server that is starting and has no tools.
    fn status(&self) -> McpStatus {
        McpStatus {
            name: self.name.clone(),
            transport: self.settings.transport(),
            state: McpState::Starting,
            tools: 0,
            listed: Vec::new(),
            digest: String::new(),
            offers: Arc::default(),
            reports: 0,
            run: self.run,
            is_unauthorized: false,
            problem: None,
        }
    }
}

async fn end_of(service: RunningService<RoleClient, Listener>) {
    // The reason for the end is not needed.
    drop(service.waiting().await);
}

/// Returns the delay before the next attempt.
fn wait(failures: u32) -> Duration {
    let factor = 1_u32.checked_shl(failures).unwrap_or(u32::MAX);
    FIRST_WAIT.saturating_mul(factor).min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests;
