//! Exports traces and metrics while the server runs.

use super::LAST_TELEMETRY;
use gatehouse_services::{RenderMetrics, Services};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The task that exports traces and metrics. It ends last, so data from the shutdown is exported too.
pub(super) struct TelemetryExport {
    shutdown: CancellationToken,
    tasks: TaskTracker,
}

impl TelemetryExport {
    pub(super) fn start(services: &Services, render: Option<RenderMetrics>) -> Self {
        let export = Self {
            shutdown: CancellationToken::new(),
            tasks: TaskTracker::new(),
        };
        services.export_telemetry(render, export.shutdown.clone(), &export.tasks);
        export
    }

    pub(super) async fn end(self) {
        self.shutdown.cancel();
        self.tasks.close();
        let sent = tokio::time::timeout(LAST_TELEMETRY, self.tasks.wait()).await;
        if sent.is_err() {
            tracing::warn!("the last traces and metrics were not sent in time");
        }
    }
}
