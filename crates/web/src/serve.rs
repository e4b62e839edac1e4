//! The accept loop with its limits and timeouts, and the graceful shutdown.

mod connection;
mod shared_peers;

use crate::app::App;
use crate::connection_slots::{ConnectionLimits, ConnectionSlots};
use crate::observe::CONNECTIONS_REFUSED;
use crate::tls::ServerTls;
use connection::Connection;
use gatehouse_domain::ClientKey;
pub use shared_peers::SharedPeers;
use shared_peers::is_shared;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The time limit for running requests after shutdown starts.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// The pause after a failed accept, usually because no file descriptors are left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A listening socket.
#[derive(Debug)]
pub struct Listening {
    pub listener: TcpListener,
    /// Connections that were accepted earlier and have not sent anything.
    pub waiting: Vec<(TcpStream, SocketAddr)>,
}

impl From<TcpListener> for Listening {
    fn from(listener: TcpListener) -> Self {
        Self {
            listener,
            waiting: Vec::new(),
        }
    }
}

/// Options of [`serve`].
#[derive(Debug)]
pub struct ServeOptions {
    pub listening: Listening,
    /// The TLS settings. `None` serves plain HTTP.
    pub tls: Option<ServerTls>,
    pub limits: ConnectionLimits,
    /// Starts the graceful shutdown.
    pub shutdown: CancellationToken,
}

/// Serves until `shutdown`, then lets running requests finish.
pub async fn serve(app: App, options: ServeOptions) {
    let ServeOptions {
        listening,
        tls,
        limits,
        shutdown,
    } = options;
    let Listening {
        listener,
        mut waiting,
    } = listening;
    let slots = ConnectionSlots::new(limits);
    let connections = TaskTracker::new();
    loop {
        let accepted = if let Some(accepted) = waiting.pop() {
            Some(accepted)
        } else {
            tokio::select! {
                () = shutdown.cancelled() => break,
                accepted = accept(&listener) => accepted,
            }
        };
        let Some((stream, address)) = accepted else {
            // The usual cause is that no file descriptors are left.
            slots.make_room();
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let is_shared = is_shared(&app, address.ip());
        let Some(slot) = slots.take(ClientKey::of(address.ip()), is_shared) else {
            metrics::counter!(CONNECTIONS_REFUSED).increment(1);
            continue;
        };
        let connection = Connection {
            app: app.clone(),
            shutdown: shutdown.clone(),
            slot,
            idle: slots.limits().idle,
        };
        connections.spawn(connection.run(stream, address, tls.clone()));
    }
    drop(listener);
    connections.close();
    app.sockets().close();
    let drained = async {
        connections.wait().await;
        app.sockets().wait().await;
    };
    if tokio::time::timeout(DRAIN_TIMEOUT, drained).await.is_err() {
        tracing::warn!(
            left = connections.len(),
            "some connections did not close in time"
        );
    }
}

async fn accept(listener: &TcpListener) -> Option<(TcpStream, SocketAddr)> {
    match listener.accept().await {
        Ok((stream, address)) => {
            // Responses are small and complete, so sending immediately is faster than batching.
            let _ = stream.set_nodelay(true);
            Some((stream, address))
        }
        Err(error) => {
            tracing::warn!(%error, "cannot accept a connection");
            None
        }
    }
}
