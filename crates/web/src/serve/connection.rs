//! Serves one connection until it ends.

use super::DRAIN_TIMEOUT;
use crate::app::App;
use crate::arrival::Peer;
use crate::connection_slots::ConnectionSlot;
use crate::gate::{MAX_HEAD_BYTES, enter};
use crate::in_work;
use crate::tls::{Accepted, ServerTls};
use axum::body::Body;
use hyper::{
    body::Incoming,
    server::conn::{http1, http2},
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

/// The timeout for the TLS handshake, for the request head, and for HTTP/2 keep-alive pings.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);

/// The time limit for closing an evicted or idle connection.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum numbers of streams that an HTTP/2 client may reset before they are accepted, and of streams that are
/// reset because of its errors (CVE-2023-44487, CVE-2025-8671). Exceeding one of them ends the connection.
const MAX_PENDING_RESETS: usize = 20;

const MAX_ERROR_RESETS: usize = 256;

/// The HTTP/2 header list limit. It counts 32 extra bytes per field (RFC 9113, section 6.5.2). It bounds the decoder.
/// The gate applies the same limit to both protocols.
const H2_HEADER_LIST: u32 = 128 * 1024;

/// The connection preface of an HTTP/2 client with prior knowledge (RFC 9113, section 3.4).
const H2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(super) struct Connection {
    pub(super) app: App,
    pub(super) shutdown: CancellationToken,
    pub(super) slot: ConnectionSlot,
    pub(super) idle: Duration,
}

impl Connection {
    pub(super) async fn run(self, stream: TcpStream, address: SocketAddr, tls: Option<ServerTls>) {
        let ended = self.slot.ended();
        let Some(tls) = tls else {
            let peer = Peer {
                address,
                over_tls: false,
            };
            let head = tokio::time::timeout(HEAD_TIMEOUT, speaks_http2(&stream));
            // In the other cases, the client sent nothing or disconnected, so there is no request
            // to answer.
            if let Some(Ok(Ok(is_http2))) = ended.run_until_cancelled(head).await {
                self.speak(stream, peer, is_http2).await;
            }
            return;
        };
        let peer = Peer {
            address,
            over_tls: true,
        };
        let handshake = tls.accept(stream, self.app.services());
        let handshake = tokio::time::timeout(HEAD_TIMEOUT, handshake);
        match ended.run_until_cancelled(handshake).await {
            Some(Ok(Ok(Accepted::Client(stream)))) => {
                let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                self.speak(*stream, peer, is_http2).await;
            }
            Some(Ok(Err(error))) => tracing::debug!(%error, "a TLS handshake failed"),
            Some(Err(_elapsed)) => tracing::debug!("a TLS handshake took too long"),
            Some(Ok(Ok(Accepted::Challenge))) | None => {}
        }
    }

    async fn speak<S>(self, stream: S, peer: Peer, is_http2: bool)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (app, slot) = (self.app.clone(), self.slot.clone());
        let service = service_fn(move |request: http::Request<Incoming>| {
            let (app, slot) = (app.clone(), slot.clone());
            async move {
                let in_work = slot.begin_request();
                let answer = enter(&app, peer, slot, request.map(Body::new)).await;
                Ok::<_, Infallible>(in_work::until_sent(answer, in_work))
            }
        });
        let io = TokioIo::new(stream);
        let outcome = if is_http2 {
            let mut builder = http2::Builder::new(TokioExecutor::new());
            builder
                .timer(TokioTimer::new())
                .max_concurrent_streams(64)
                .max_header_list_size(H2_HEADER_LIST)
                .max_pending_accept_reset_streams(MAX_PENDING_RESETS)
                .max_local_error_reset_streams(MAX_ERROR_RESETS)
                .keep_alive_interval(Duration::from_secs(30))
                .keep_alive_timeout(HEAD_TIMEOUT);
            let mut connection = std::pin::pin!(builder.serve_connection(io, service));
            tokio::select! {
                outcome = connection.as_mut() => outcome,
                grace = self.must_end() => {
                    connection.as_mut().graceful_shutdown();
                    end_within(grace, connection).await
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
                grace = self.must_end() => {
                    connection.as_mut().graceful_shutdown();
                    end_within(grace, connection).await
                }
            }
        };
        if let Err(error) = outcome {
            tracing::debug!(%error, "a connection ended early");
        }
    }

    /// Waits until the connection must end. Returns how long closing may take.
    async fn must_end(&self) -> Duration {
        let ended = self.slot.ended();
        tokio::select! {
            () = self.shutdown.cancelled() => DRAIN_TIMEOUT,
            () = ended.cancelled() => CLOSE_TIMEOUT,
            () = self.slot.idle(self.idle) => CLOSE_TIMEOUT,
        }
    }
}

async fn end_within(
    grace: Duration,
    connection: impl Future<Output = hyper::Result<()>>,
) -> hyper::Result<()> {
    let ended = tokio::time::timeout(grace, connection).await;
    // Drops a connection that has not closed in time.
    ended.unwrap_or(Ok(()))
}

/// Peeks at the first bytes without consuming them. Polls a slow client until the timeout.
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
