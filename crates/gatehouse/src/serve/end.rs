//! Ends the tasks and the queue of a server that stops.

use crate::compose::App;
use gatehouse_services::Services;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The time limit for background tasks to end. The programs of MCP servers get a few seconds.
const TASKS_TIMEOUT: Duration = Duration::from_secs(10);

/// The time after `server.drain_seconds` in which the webhook worker must store the results of interrupted sends. The
/// worker's own time limits are shorter and end it first.
const LAST_RESULTS: Duration = Duration::from_secs(5);

impl App {
    /// Waits for background tasks and for speech programs, up to the time limit.
    pub(super) async fn end_tasks(&self, tasks: &TaskTracker) {
        self.0.rpc.tasks().close();
        let ended = async {
            #[cfg(feature = "voice")]
            self.services().voice.shutdown().await;
            self.0.rpc.tasks().wait().await;
            tasks.wait().await;
        };
        if tokio::time::timeout(TASKS_TIMEOUT, ended).await.is_err() {
            tracing::warn!(
                left = tasks.len(),
                "some background tasks did not end in time"
            );
        }
    }
}

/// Waits for the sends of the webhooks, which may continue for `drain` after the shutdown began. Then waits until their
/// results are stored.
pub(super) async fn end_queue(queue: &TaskTracker, drain: Duration) {
    queue.close();
    let ended = tokio::time::timeout(drain + LAST_RESULTS, queue.wait()).await;
    if ended.is_err() {
        tracing::warn!(
            left = queue.len(),
            "some tasks of the webhooks did not end in time"
        );
    }
}

/// Returns a token that is canceled `server.drain_delay_seconds` after `signal`. Until then, requests are accepted and
/// `/health/ready` fails.
pub(super) fn delayed(
    services: &Arc<Services>,
    signal: CancellationToken,
    tasks: &TaskTracker,
) -> CancellationToken {
    let shutdown = CancellationToken::new();
    let (services, stop) = (Arc::clone(services), shutdown.clone());
    let wait = async move {
        signal.cancelled().await;
        services.drain();
        let resolved = services.config.resolved();
        let delay = resolved.settings.server.drain_delay_seconds;
        if delay > 0 {
            tracing::info!(
                seconds = delay,
                "requests are accepted until the shutdown begins"
            );
            tokio::time::sleep(Duration::from_secs(delay)).await;
        }
        stop.cancel();
    };
    tasks.spawn(shutdown.clone().run_until_cancelled_owned(wait));
    shutdown
}
