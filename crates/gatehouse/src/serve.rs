//! Serving, from the first line on standard output until the database is closed.

mod announce;
mod end;
mod listeners;
mod telemetry;

use crate::compose::App;
use crate::drill;
use crate::limits::open_files;
use crate::logging::LINES_DROPPED;
use crate::service_manager::ServiceManager;
use end::{delayed, end_queue};
use gatehouse_auth::MetricsToken;
use gatehouse_web::{ConnectionLimits, Listening, Scrape, ServeOptions, install_metrics};
pub use listeners::ListenError;
use listeners::OtherListeners;
use std::sync::Arc;
use std::time::Duration;
use telemetry::TelemetryExport;
#[cfg(feature = "voice")]
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often the metrics recorder aggregates. It keeps every duration until then.
const UPKEEP: Duration = Duration::from_secs(1);

/// The time limit for counting the failures of the last sends.
const LAST_COUNT: Duration = Duration::from_secs(1);
/// The time limit for sending the last traces and metrics.
const LAST_TELEMETRY: Duration = Duration::from_secs(2);
/// The time limit for sending the last events to other nodes.
const LAST_EVENTS: Duration = Duration::from_millis(100);

impl App {
    /// Serves until `shutdown`, then drains requests and tasks, closes the database and releases the lock. Standard
    /// output contains only the address and each new setup code.
    ///
    /// # Errors
    /// Fails if the address of `metrics.bind` or `voice.wyoming.bind` cannot be opened. No request was served then, and
    /// the database is closed.
    pub async fn serve(
        &self,
        listening: impl Into<Listening>,
        shutdown: CancellationToken,
    ) -> Result<(), ListenError> {
        let limits = ConnectionLimits::for_open_files(open_files());
        self.serve_within(listening, limits, shutdown).await
    }

    /// Serves like [`Self::serve`], with other connection limits.
    pub async fn serve_within(
        &self,
        listening: impl Into<Listening>,
        limits: ConnectionLimits,
        shutdown: CancellationToken,
    ) -> Result<(), ListenError> {
        let listening = listening.into();
        let others = match self.listen_besides().await {
            Ok(others) => others,
            Err(error) => {
                self.0.gateway.close().await;
                return Err(error);
            }
        };
        self.serve_on(listening, others, limits, shutdown).await;
        Ok(())
    }

    async fn serve_on(
        &self,
        listening: Listening,
        others: OtherListeners,
        limits: ConnectionLimits,
        shutdown: CancellationToken,
    ) {
        let services = self.services();
        let tasks = TaskTracker::new();
        let shutdown = delayed(services, shutdown, &tasks);
        // The recorder is set up first, because metrics reported before it exists are lost.
        let resolved = services.config.resolved();
        let settings = &resolved.settings.metrics;
        let metrics = settings.enabled.then(install_metrics).and_then(|made| {
            made.inspect_err(|error| tracing::warn!(%error, "metrics cannot be set up"))
                .ok()
        });
        if let Some(recorder) = metrics.clone() {
            // The counter exists from the start, because a rate over a counter misses the increment
            // with which the counter appears.
            metrics::counter!(LINES_DROPPED).increment(0);
            upkeep(move || recorder.run_upkeep(), &shutdown, &tasks);
        }
        let render = metrics.map(|recorder| services.measured(move || recorder.render()));
        let telemetry = TelemetryExport::start(services, render.clone());
        let token = settings.token.clone().map(MetricsToken::new);
        let metrics = render.map(|render| Scrape::new(render, token));
        if let (Some(listener), Some(scrape)) = (others.metrics, metrics.clone()) {
            tasks.spawn(scrape.serve(listener, shutdown.clone()));
        }
        #[cfg(feature = "voice")]
        if let Some(listener) = others.wyoming {
            self.serve_wyoming(listener, &shutdown, &tasks);
        }
        self.announce(&listening.listener, &shutdown, &tasks);
        let process = services.config.layers().process();
        let manager = Arc::new(ServiceManager::connect(process));
        manager.watch(services, process.watchdog, &shutdown, &tasks);
        services.watch_database_file(shutdown.clone(), &tasks);
        self.0.gateway.watch_profiles(&shutdown, &tasks);
        // This must happen before requests count toward limits that nodes share.
        services
            .follow_database_clock(shutdown.clone(), &tasks)
            .await;
        // The subscription begins before the first poll for changes of other nodes. It ends after everything else, so
        // other nodes receive the events of this node's last turns.
        let events_end = CancellationToken::new();
        gatehouse_rpc::events::bridge(&self.0.rpc, &events_end, &tasks).await;
        services.auth.background(shutdown.clone(), &tasks);
        services.tools.background(shutdown.clone(), &tasks);
        services.agents.background().await;
        services.send_approval_messages(shutdown.clone(), &tasks);
        services.send_notices(shutdown.clone(), &tasks);
        services.send_pushes(shutdown.clone(), &tasks);
        let queue = TaskTracker::new();
        services.webhooks.background(shutdown.clone(), &queue);
        services.make_backups(shutdown.clone(), &tasks);
        drill::start(services, &shutdown, &tasks).await;
        services.export_audit_log(shutdown.clone(), &tasks);
        services.receive_messages(shutdown.clone(), &tasks);
        if let Some(tls) = &self.0.tls {
            tls.background(services, shutdown.clone(), &tasks);
        }

        manager.ready();

        let web = gatehouse_web::App::new(self.0.rpc.clone(), metrics, shutdown.clone());
        let tls = self.0.tls.clone();
        gatehouse_web::serve(
            web,
            ServeOptions {
                listening,
                tls,
                limits,
                shutdown: shutdown.clone(),
            },
        )
        .await;

        manager.stopping();
        shutdown.cancel();
        tasks.close();
        let settings = services.config.resolved();
        let drain = Duration::from_secs(settings.settings.server.drain_seconds);
        tokio::join!(services.agents.shutdown(drain), end_queue(&queue, drain));
        drop(tokio::time::timeout(LAST_COUNT, services.count_last_failures()).await);
        if services.store.engine().is_shared() {
            tokio::time::sleep(LAST_EVENTS).await;
        }
        events_end.cancel();
        self.end_tasks(&tasks).await;
        telemetry.end().await;
        self.0.gateway.close().await;
        tracing::info!("stopped");
    }

    #[cfg(feature = "voice")]
    fn serve_wyoming(
        &self,
        listener: TcpListener,
        shutdown: &CancellationToken,
        tasks: &TaskTracker,
    ) {
        let services = self.services();
        let settings = services.config.resolved().settings.voice.wyoming.clone();
        tracing::info!(address = ?listener.local_addr().ok(), "serving Wyoming clients");
        let voice = services.voice.clone();
        tasks.spawn(voice.serve_wyoming(listener, settings.allowed_cidrs, shutdown.clone()));
    }
}

fn upkeep(tidy: impl Fn() + Send + 'static, shutdown: &CancellationToken, tasks: &TaskTracker) {
    tasks.spawn(shutdown.clone().run_until_cancelled_owned(async move {
        let mut timer = tokio::time::interval(UPKEEP);
        loop {
            timer.tick().await;
            tidy();
        }
    }));
}
