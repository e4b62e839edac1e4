//! Answers requests while the server opens its database, which takes long if a migration is needed. Liveness probes
//! succeed, so a supervisor does not stop the migration. All other requests are refused temporarily.

use crate::gate::REQUEST_ID;
use crate::routes::health;
use crate::serve::{Listening, SharedPeers};
use crate::tls::ServerTls;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use gatehouse_domain::{ClientKey, ErrorCode, RequestId, SystemClock, SystemRandom};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// The maximum number of concurrent connections. Further connections wait to be accepted.
const CONNECTIONS: usize = 256;
/// The maximum number of connections per client. Further connections are closed.
const PER_CLIENT: usize = 32;
/// The time limit for a client's first byte, for the TLS handshake, and for its request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// The time limit for a connection.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(20);
/// The time limit for connections to end after the server has started.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);
/// The pause after a failed accept, usually for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
const RETRY_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("5");
const MESSAGE: &str = "The server is starting and may be migrating its database. Nothing was changed. Try again soon.";

/// The options of [`answer_early`].
#[derive(Debug)]
pub struct EarlyOptions {
    pub listener: TcpListener,
    /// The TLS settings. `None` answers plain HTTP.
    pub tls: Option<ServerTls>,
    /// Peers that carry the traffic of many clients.
    pub shared: SharedPeers,
    /// Ends the early answers.
    pub started: CancellationToken,
}

/// The number of connections of each client.
#[derive(Default)]
struct Held(HashMap<ClientKey, usize>);

impl Held {
    /// Takes a slot. Returns `false` if the client has no slot left.
    fn take(&mut self, client: ClientKey) -> bool {
        let held = self.0.entry(client).or_default();
        let has_room = *held < PER_CLIENT;
        *held += usize::from(has_room);
        has_room
    }

    fn give_back(&mut self, client: ClientKey) {
        if let Some(held) = self.0.get_mut(&client) {
            *held = held.saturating_sub(1);
        }
        self.0.retain(|_, held| *held > 0);
    }
}

/// Answers requests until `started`. Connections that have not sent anything by then are passed to the gateway.
pub async fn answer_early(options: EarlyOptions) -> Listening {
    let EarlyOptions {
        listener,
        tls,
        shared,
        started,
    } = options;
    let mut connections = FuturesUnordered::new();
    let (mut waiting, mut held) = (Vec::new(), Held::default());
    loop {
        tokio::select! {
            () = started.cancelled() => break,
            Some((client, left)) = connections.next() => {
                if let Some(client) = client {
                    held.give_back(client);
                }
                waiting.extend(left);
            }
            accepted = listener.accept(), if connections.len() < CONNECTIONS => match accepted {
                Ok((stream, address)) => {
                    let client = (!shared.contains(address.ip())).then(|| ClientKey::of(address.ip()));
                    if client.is_none_or(|client| held.take(client)) {
                        let answered = connection(stream, address, tls.clone(), &started);
                        connections.push(async move { (client, answered.await) });
                    }
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
        }
    }
    let drained = async {
        while let Some((_, left)) = connections.next().await {
            waiting.extend(left);
        }
    };
    let is_drained = tokio::time::timeout(DRAIN_TIMEOUT, drained).await.is_ok();
    if !is_drained {
        tracing::debug!("some connections from before the start did not end in time");
    }
    drop(connections);
    Listening { listener, waiting }
}

/// Answers one request. If the server starts before the client has sent anything, returns the
/// connection.
async fn connection(
    stream: TcpStream,
    address: SocketAddr,
    tls: Option<ServerTls>,
    started: &CancellationToken,
) -> Option<(TcpStream, SocketAddr)> {
    let is_readable = {
        let mut first = [0];
        let peek = tokio::time::timeout(HEAD_TIMEOUT, stream.peek(&mut first));
        tokio::select! {
            peeked = peek => Some(matches!(peeked, Ok(Ok(1..)))),
            () = started.cancelled() => None,
        }
    };
    match is_readable {
        None => return Some((stream, address)),
        Some(false) => return None,
        Some(true) => {}
    }
    let served = async {
        match tls {
            None => serve(stream).await,
            Some(tls) => {
                let handshake = tokio::time::timeout(HEAD_TIMEOUT, tls.accept_early(stream));
                if let Ok(Ok(stream)) = handshake.await {
                    serve(stream).await;
                }
            }
        }
    };
    drop(tokio::time::timeout(CONNECTION_TIMEOUT, served).await);
    None
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin) {
    let service = service_fn(|request: Request<hyper::body::Incoming>| {
        let response = answer(request.method(), request.uri().path());
        async move { Ok::<_, Infallible>(response) }
    });
    // Keep-alive is off, so the next request reaches the server.
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = served.await {
        tracing::debug!(%error, "a connection ended early");
    }
}

fn answer(method: &Method, path: &str) -> Response<Full<Bytes>> {
    let id = RequestId::generate(&SystemClock::new(), &SystemRandom);
    let reads = method == Method::GET || method == Method::HEAD;
    let (status, body) = match path {
        "/health/live" | "/livez" | "/healthz" if reads => {
            (StatusCode::OK, json!(health::Probe::of(Vec::new())))
        }
        "/health/ready" | "/readyz" if reads => {
            let probe = health::Probe::of(vec!["migrating"]);
            (StatusCode::SERVICE_UNAVAILABLE, json!(probe))
        }
        _ => {
            let code = ErrorCode::StorageUnavailable.name();
            let body = json!({ "error": MESSAGE, "code": code, "request_id": id.as_str() });
            (StatusCode::SERVICE_UNAVAILABLE, body)
        }
    };
    let mut response = Response::new(Full::from(body.to_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(id) = HeaderValue::from_str(id.as_str()) {
        headers.insert(REQUEST_ID, id);
    }
    if status != StatusCode::OK {
        headers.insert(RETRY_AFTER, RETRY_AFTER_SECONDS);
    }
    response
}

#[cfg(test)]
mod tests;
