//! `serve`: runs the server until a signal stops it. The port is open before the database is.

use super::globals::Globals;
use anyhow::{Context, Result};
use gatehouse::logging::{LogOutput, Logging};
use gatehouse::{App, Parts, limits, own_environment};
use gatehouse_config::{Layers, Tls, Vault};
use gatehouse_domain::{SystemClock, SystemRandom};
use gatehouse_web::{EarlyOptions, Listening, ServerTls, SharedPeers, answer_early};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The maximum number of worker threads. Each thread needs memory, and more threads are no faster
/// on the intended machines.
const MAX_WORKERS: usize = 4;
/// The maximum number of blocking threads. Blocking work is password hashing, which has its own
/// limit, and access to small files.
const MAX_BLOCKING: usize = 16;

/// Runs the server.
pub fn run(globals: &Globals) -> Result<ExitCode> {
    let layers = globals.layers_of(&own_environment::without_secrets()?)?;
    let settings = layers.resolve(&BTreeMap::new())?.settings;
    let logging =
        Logging::start(&settings.log, layers.process().no_color).context("cannot start logging")?;
    limits::raise_open_files();
    limits::forbid_core_files();
    let workers =
        std::thread::available_parallelism().map_or(1, |count| count.get().min(MAX_WORKERS));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .max_blocking_threads(MAX_BLOCKING)
        .enable_all()
        .build()?;
    runtime.block_on(serve(layers, &logging))?;
    // Blocking jobs that never end are not awaited.
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

async fn serve(layers: Layers, logging: &Logging) -> Result<()> {
    let (shutdown, tasks) = (CancellationToken::new(), TaskTracker::new());
    stop_on_signals(&shutdown, &tasks, logging.output().clone())?;
    let parts = Parts {
        clock: Arc::new(SystemClock::new()),
        random: Arc::new(SystemRandom),
    };
    let early = Early::start(&layers, &tasks).await;
    let app = App::open(layers, parts).await?;
    let settings = &app.services().config.resolved().settings;
    logging.apply(&settings.log);
    warn_of_sealing(&app, &settings.vault);
    let bind = settings.server.bind;
    let listening = match early {
        Some(early) => early.end(bind).await,
        None => None,
    };
    let listening = match listening {
        Some(listening) => listening,
        None => TcpListener::bind(bind)
            .await
            .with_context(|| format!("cannot listen on {bind}"))?
            .into(),
    };
    Ok(app.serve(listening, shutdown).await?)
}

/// Warns that other nodes stay sealed. Nodes share the vault's key only with a secret, and this node cannot detect
/// other nodes.
fn warn_of_sealing(app: &App, settings: &Vault) {
    let is_shared = app.services().store.engine().is_shared();
    if is_shared && settings.share_unseal && settings.cluster_secret.is_none() {
        tracing::warn!(
            "vault.cluster_secret is not set: if several nodes use this database, each must be unlocked separately, and \
             a rotation on one seals the others"
        );
    }
}

/// Answers on the server's port before the database is open.
struct Early {
    bind: SocketAddr,
    opened: CancellationToken,
    listening: JoinHandle<Listening>,
}

impl Early {
    /// Opens the port of the settings without the run-time changes in the database. Returns `None` if that fails. The
    /// error is reported after the database is open, because a run-time change may set another port.
    async fn start(layers: &Layers, tasks: &TaskTracker) -> Option<Self> {
        let settings = layers.resolve(&BTreeMap::new()).ok()?.settings;
        let bind = settings.server.bind;
        let tls = match &settings.server.tls {
            Tls::Off => None,
            // Without a certificate, the port stays closed.
            _ => Some(ServerTls::open_early(&settings, layers.data_dir()).ok()??),
        };
        let listener = TcpListener::bind(bind).await.ok()?;
        let opened = CancellationToken::new();
        let trusted = &settings.proxy.trusted_cidrs;
        let options = EarlyOptions {
            listener,
            tls,
            shared: SharedPeers::new(trusted, layers.process().behind_proxy),
            started: opened.clone(),
        };
        let listening = tasks.spawn(answer_early(options));
        Some(Self {
            bind,
            opened,
            listening,
        })
    }

    /// Returns the open port. If it is not the wanted port, closes it and returns `None`.
    async fn end(self, wanted: SocketAddr) -> Option<Listening> {
        self.opened.cancel();
        let listening = self.listening.await.ok()?;
        (self.bind == wanted).then_some(listening)
    }
}

/// Stops on signals: the first starts a graceful shutdown, the second exits immediately.
fn stop_on_signals(
    shutdown: &CancellationToken,
    tasks: &TaskTracker,
    log: LogOutput,
) -> Result<()> {
    let listen = |kind| signal(kind).context("cannot listen for signals");
    let mut terminate = listen(SignalKind::terminate())?;
    let mut interrupt = listen(SignalKind::interrupt())?;
    // Without a handler, closing the terminal would end the process immediately, and the last log lines would be lost.
    let mut hangup = if ignores_hangup() {
        None
    } else {
        Some(listen(SignalKind::hangup())?)
    };
    let shutdown = shutdown.clone();
    tasks.spawn(async move {
        tokio::select! {
            () = either(&mut terminate, &mut interrupt) => {}
            () = received(hangup.as_mut()) => {}
        }
        tracing::info!("stopping");
        shutdown.cancel();
        // Closing a terminal can cause more than one hangup signal.
        either(&mut terminate, &mut interrupt).await;
        tracing::warn!("exiting immediately");
        log.flush();
        std::process::exit(1);
    });
    Ok(())
}

/// Returns whether the process was started with SIGHUP ignored, as `nohup` does. A handler would override that.
fn ignores_hangup() -> bool {
    #[expect(
        clippy::disallowed_methods,
        reason = "a small file of the kernel, read before anything is served"
    )]
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The lowest bit is signal 1, SIGHUP.
    ignored.is_some_and(|mask| mask & 1 == 1)
}

/// Waits for a signal. Waits forever if there is none.
async fn received(signal: Option<&mut Signal>) {
    if let Some(signal) = signal {
        signal.recv().await;
    } else {
        std::future::pending::<()>().await;
    }
}

async fn either(one: &mut Signal, other: &mut Signal) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}
