//! Serving: the accept loop, its limits and time-outs, and the way down.

use crate::app::App;
use crate::gate::{MAX_HEAD_BYTES, Peer, enter};
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Connections at one time; one more waits in the kernel's queue.
const MAX_CONNECTIONS: usize = 16_384;
/// How long a client may take to say what it wants: TLS handshake and request head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// How long requests in progress may take to end once the server is told to stop.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait when the system has no more file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How HTTP/2 counts a head (RFC 9113, section 6.5.2): 32 bytes more for each field. The gate counts both
/// protocols alike; this bounds what is decoded before.
const H2_HEADER_LIST: u32 = 128 * 1024;
/// What an HTTP/2 client with prior knowledge sends first (RFC 9113, section 3.4).
const H2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How to serve.
#[derive(Debug)]
pub struct ServeOptions {
    /// Where connections come in.
    pub listener: TcpListener,
    /// Our own TLS, when there is.
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// Told when to stop.
    pub shutdown: CancellationToken,
}

/// Serves until told to stop, then lets what is in progress end.
pub async fn serve(app: App, options: ServeOptions) {
    let ServeOptions {
        listener,
        tls,
        shutdown,
    } = options;
    let acceptor = tls.map(TlsAcceptor::from);
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let Some((stream, address, place)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let connection = Connection {
            app: app.clone(),
            shutdown: shutdown.clone(),
        };
        let acceptor = acceptor.clone();
        connections.spawn(async move {
            connection.run(stream, address, acceptor).await;
            drop(place);
        });
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
            "some connections did not end in time"
        );
    }
}

type Place = tokio::sync::OwnedSemaphorePermit;

async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, Place)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, address)) => {
            // Answers are small and whole: sending them at once beats gathering them.
            let _ = stream.set_nodelay(true);
            Some((stream, address, place))
        }
        Err(error) => {
            tracing::warn!(%error, "cannot accept a connection");
            None
        }
    }
}

struct Connection {
    app: App,
    shutdown: CancellationToken,
}

impl Connection {
    async fn run(self, stream: TcpStream, address: SocketAddr, acceptor: Option<TlsAcceptor>) {
        let Some(acceptor) = acceptor else {
            let peer = Peer {
                address,
                over_tls: false,
            };
            let head = tokio::time::timeout(HEAD_TIMEOUT, speaks_http2(&stream)).await;
            // Otherwise nothing came, or the client left: there is nobody to answer.
            if let Ok(Ok(is_http2)) = head {
                self.speak(stream, peer, is_http2).await;
            }
            return;
        };
        let peer = Peer {
            address,
            over_tls: true,
        };
        match tokio::time::timeout(HEAD_TIMEOUT, acceptor.accept(stream)).await {
            Ok(Ok(stream)) => {
                let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                self.speak(stream, peer, is_http2).await;
            }
            Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
            Err(_elapsed) => tracing::debug!("a TLS handshake took too long"),
        }
    }

    async fn speak<S>(self, stream: S, peer: Peer, is_http2: bool)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let app = self.app;
        let service = service_fn(move |request: http::Request<Incoming>| {
            let app = app.clone();
            async move { Ok::<_, Infallible>(enter(&app, peer, request.map(Body::new)).await) }
        });
        let io = TokioIo::new(stream);
        let outcome = if is_http2 {
            let mut builder = http2::Builder::new(TokioExecutor::new());
            builder
                .timer(TokioTimer::new())
                .max_concurrent_streams(64)
                .max_header_list_size(H2_HEADER_LIST)
                .keep_alive_interval(Duration::from_secs(30))
                .keep_alive_timeout(HEAD_TIMEOUT);
            let mut connection = std::pin::pin!(builder.serve_connection(io, service));
            tokio::select! {
                outcome = connection.as_mut() => outcome,
                () = self.shutdown.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            }
        } else {
            let mut builder = http1::Builder::new();
            builder
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIMEOUT)
                .max_buf_size(MAX_HEAD_BYTES);
            let mut connection =
                std::pin::pin!(builder.serve_connection(io, service).with_upgrades());
            tokio::select! {
                outcome = connection.as_mut() => outcome,
                () = self.shutdown.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            }
        };
        if let Err(error) = outcome {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}

/// Looks at the first bytes without taking them. A client that dawdles over them is looked at again
/// now and then until its time is up.
async fn speaks_http2(stream: &TcpStream) -> std::io::Result<bool> {
    let mut seen = [0; H2_PREFACE.len()];
    loop {
        let count = stream.peek(&mut seen).await?;
        let start = seen.get(..count).unwrap_or_default();
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if !H2_PREFACE.starts_with(start) {
            return Ok(false);
        }
        if count == H2_PREFACE.len() {
            return Ok(true);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
