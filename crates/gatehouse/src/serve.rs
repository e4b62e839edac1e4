//! Serving, from the first line on standard output until the database is closed.

mod telemetry;

use crate::compose::App;
use crate::drill;
use crate::limits::open_files;
use crate::logging::LINES_DROPPED;
use crate::service_manager::ServiceManager;
use gatehouse_auth::MetricsToken;
use gatehouse_services::Services;
use gatehouse_web::{ConnectionLimits, Listening, Scrape, ServeOptions, install_metrics};
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use telemetry::TelemetryExport;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often the metrics recorder aggregates; until then it keeps every duration.
const UPKEEP: Duration = Duration::from_secs(1);
/// How long background tasks may take to end: the programs of MCP servers get a few seconds.
const TASKS_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the worker of webhooks may take after `server.drain_seconds` to store the ends of interrupted sends. Longer
/// than its own time limits, which end it first.
const LAST_RESULTS: Duration = Duration::from_secs(5);
/// How long counting the failures of the last sends may take.
const LAST_COUNT: Duration = Duration::from_secs(1);
/// How long sending the last traces and metrics may take.
const LAST_TELEMETRY: Duration = Duration::from_secs(2);
/// How long the last events may take to reach other nodes.
const LAST_EVENTS: Duration = Duration::from_millis(100);

/// A port that a setting names cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}, the address of {setting}")]
pub struct ListenError {
    setting: &'static str,
    address: SocketAddr,
    source: std::io::Error,
}

/// The listeners on other ports than the main one.
struct OtherListeners {
    metrics: Option<TcpListener>,
    #[cfg(feature = "voice")]
    wyoming: Option<TcpListener>,
}

/// Opens the port that the setting names, if it is set.
async fn listen(
    setting: &'static str,
    address: Option<SocketAddr>,
) -> Result<Option<TcpListener>, ListenError> {
    let Some(address) = address else {
        return Ok(None);
    };
    let opened = TcpListener::bind(address).await;
    opened.map(Some).map_err(|source| ListenError {
        setting,
        address,
        source,
    })
}

impl App {
    /// Serves until `shutdown`, then drains requests and tasks, closes the database and releases the lock.
    /// Standard output contains only the address and each new setup code.
    ///
    /// # Errors
    /// If the address of `metrics.bind` or `voice.wyoming.bind` cannot be opened. Nothing was served then, and the
    /// database is closed.
    pub async fn serve(
        &self,
        listening: impl Into<Listening>,
        shutdown: CancellationToken,
    ) -> Result<(), ListenError> {
        let limits = ConnectionLimits::for_open_files(open_files());
        self.serve_within(listening, limits, shutdown).await
    }

    /// Like [`Self::serve`], with other connection limits.
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

    /// Opens the ports of `metrics.bind` and `voice.wyoming.bind`, if they are set.
    async fn listen_besides(&self) -> Result<OtherListeners, ListenError> {
        let resolved = self.services().config.resolved();
        let metrics = &resolved.settings.metrics;
        let metrics = metrics.bind.filter(|_| metrics.enabled);
        Ok(OtherListeners {
            metrics: listen("metrics.bind", metrics).await?,
            #[cfg(feature = "voice")]
            wyoming: listen("voice.wyoming.bind", resolved.settings.voice.wyoming.bind).await?,
        })
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
        // Set this up first: metrics reported before the recorder exists are lost.
        let resolved = services.config.resolved();
        let settings = &resolved.settings.metrics;
        let metrics = settings.enabled.then(install_metrics).and_then(|made| {
            made.inspect_err(|error| tracing::warn!(%error, "metrics cannot be set up"))
                .ok()
        });
        if let Some(recorder) = metrics.clone() {
            // A rate over a counter misses the increment with which the counter appears.
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
        // Before requests count under limits that nodes share.
        services
            .follow_database_clock(shutdown.clone(), &tasks)
            .await;
        // Subscribes before the first poll for changes of other nodes. Ends after everything else, so that
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

    /// Waits for background tasks and for speech programs, for a limited time.
    async fn end_tasks(&self, tasks: &TaskTracker) {
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

    fn announce(&self, listener: &TcpListener, shutdown: &CancellationToken, tasks: &TaskTracker) {
        let scheme = if self.0.tls.is_some() {
            "https"
        } else {
            "http"
        };
        let address = match listener.local_addr() {
            Ok(address) => {
                say(&format!("Listening on {scheme}://{address}"));
                Some(address)
            }
            Err(error) => {
                tracing::warn!(%error, "cannot determine the listening address");
                None
            }
        };
        let services = self.services();
        tracing::info!(
            version = services.build.version,
            engine = services.store.engine().name(),
            vault_status = ?services.secrets.status(),
            "started"
        );
        let mut code = services.auth.setup_code();
        let mut said = code.borrow_and_update().clone();
        if let Some(code) = &said {
            say_code(code);
        }
        // Browsers bind passkeys to a host name, so an IP address has none.
        if let Some(address) = address.filter(|address| address.ip().is_loopback()) {
            let port = address.port();
            say(&format!("Open {scheme}://localhost:{port} in a browser"));
        }
        tasks.spawn(shutdown.clone().run_until_cancelled_owned(async move {
            while code.changed().await.is_ok() {
                let now = code.borrow_and_update().clone();
                if now != said
                    && let Some(code) = &now
                {
                    say_code(code);
                }
                said = now;
            }
        }));
    }
}

/// Waits for the sends of the webhooks, which have `drain` since the shutdown began, and for the writes of their ends.
async fn end_queue(queue: &TaskTracker, drain: Duration) {
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
fn delayed(
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

fn upkeep(tidy: impl Fn() + Send + 'static, shutdown: &CancellationToken, tasks: &TaskTracker) {
    tasks.spawn(shutdown.clone().run_until_cancelled_owned(async move {
        let mut timer = tokio::time::interval(UPKEEP);
        loop {
            timer.tick().await;
            tidy();
        }
    }));
}

fn say_code(code: &str) {
    say(&format!("Setup code: {code}"));
}

/// Prints a line for the operator. A closed pipe is not an error.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    drop(writeln!(out, "{line}").and_then(|()| out.flush()));
}
