//! Notifies systemd that the service is ready, stopping and alive, as `sd_notify(3)` describes.

use gatehouse_config::Process;
use gatehouse_services::Services;
use std::io;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The socket of systemd. Without a socket, no notification is sent.
#[derive(Debug)]
pub(crate) struct ServiceManager(Option<UnixDatagram>);

impl ServiceManager {
    /// Connects to the socket that systemd names. A failure is logged, and the service runs without notifications.
    pub(crate) fn connect(process: &Process) -> Self {
        let name = process.notify_socket.as_deref();
        let connected = name.map(connect).transpose();
        Self(connected.unwrap_or_else(|error| {
            tracing::warn!(%error, "the socket of systemd cannot be used");
            None
        }))
    }

    pub(crate) fn ready(&self) {
        self.send("READY=1");
    }

    pub(crate) fn stopping(&self) {
        self.send("STOPPING=1");
    }

    fn send(&self, state: &str) {
        // systemd may be restarting. The service has no other way to notify it.
        if let Some(socket) = &self.0
            && let Err(error) = socket.send(state.as_bytes())
        {
            tracing::warn!(%error, state, "systemd was not notified");
        }
    }

    /// Notifies the watchdog twice per watchdog interval while `/health/live` returns 200, until `shutdown`.
    pub(crate) fn watch(
        self: &Arc<Self>,
        services: &Arc<Services>,
        watchdog: Option<Duration>,
        shutdown: &CancellationToken,
        tasks: &TaskTracker,
    ) {
        let Some(wait) = watchdog.filter(|_| self.0.is_some()) else {
            return;
        };
        let (manager, services) = (Arc::clone(self), Arc::clone(services));
        tasks.spawn(shutdown.clone().run_until_cancelled_owned(async move {
            let mut timer = tokio::time::interval(wait / 2);
            loop {
                timer.tick().await;
                if services.is_live() {
                    manager.send("WATCHDOG=1");
                }
            }
        }));
    }
}

fn connect(name: &str) -> io::Result<UnixDatagram> {
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address(name)?)?;
    // A full queue must not stop the server.
    socket.set_nonblocking(true)?;
    Ok(socket)
}

#[cfg(target_os = "linux")]
fn address(name: &str) -> io::Result<SocketAddr> {
    use std::os::linux::net::SocketAddrExt;
    match name.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(name),
    }
}

#[cfg(not(target_os = "linux"))]
fn address(name: &str) -> io::Result<SocketAddr> {
    SocketAddr::from_pathname(name)
}
