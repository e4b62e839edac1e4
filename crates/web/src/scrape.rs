//! Metrics for scrapers without an account: with a separate token, and on a separate port. Neither needs the database.

use axum::body::Body;
use bytes::Bytes;
use gatehouse_auth::MetricsToken;
use gatehouse_services::RenderMetrics;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

const PATH: &str = "/metrics";
/// The maximum number of connections at a time on the port of the metrics.
const CONNECTIONS: usize = 32;
/// The time limit for a request head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The time limit for a connection.
const CONNECTION_TIMEOUT: Duration = Duration::from_mins(1);
/// The pause after a failed accept, usually for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The served metrics, and the required token.
#[derive(Clone)]
pub struct Scrape {
    render: RenderMetrics,
    token: Option<Arc<MetricsToken>>,
}

impl Scrape {
    pub fn new(render: RenderMetrics, token: Option<MetricsToken>) -> Self {
        Self {
            render,
            token: token.map(Arc::new),
        }
    }

    /// Returns the metrics in Prometheus' text format.
    pub(crate) async fn render<B: From<String>>(&self) -> Response<B> {
        let mut response = Response::new(B::from((self.render)().await));
        let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, kind);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }

    /// Answers a request for the metrics that contains the token. Returns `None` for other
    /// requests.
    pub(crate) async fn answer(&self, request: &Parts) -> Option<Response<Body>> {
        let is_scrape = request.method == Method::GET && request.uri.path() == PATH;
        let token = self.token.as_ref().filter(|_| is_scrape)?;
        if !token.accepts(&request.headers) {
            return None;
        }
        Some(self.render().await)
    }

    /// Returns the status with which a request on the port of the metrics is refused, if it is.
    fn refusal(&self, request: &Request<Incoming>) -> Option<StatusCode> {
        if request.uri().path() != PATH {
            return Some(StatusCode::NOT_FOUND);
        }
        if request.method() != Method::GET {
            return Some(StatusCode::METHOD_NOT_ALLOWED);
        }
        let token = self.token.as_ref();
        let is_wrong = token.is_some_and(|token| !token.accepts(request.headers()));
        is_wrong.then_some(StatusCode::UNAUTHORIZED)
    }

    async fn answer_on_port(&self, refusal: Option<StatusCode>) -> Response<Full<Bytes>> {
        let Some(status) = refusal else {
            return self.render().await;
        };
        let mut response = Response::new(Full::default());
        *response.status_mut() = status;
        response
    }

    /// Serves only the metrics, until `shutdown`.
    pub async fn serve(self, listener: TcpListener, shutdown: CancellationToken) {
        let slots = Arc::new(Semaphore::new(CONNECTIONS));
        let connections = TaskTracker::new();
        while let Some(accepted) = shutdown.run_until_cancelled(listener.accept()).await {
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            };
            // If all slots are taken, the connection is closed immediately.
            if let Ok(slot) = Arc::clone(&slots).try_acquire_owned() {
                let served = self.clone().connection(stream);
                connections.spawn(async move {
                    drop(tokio::time::timeout(CONNECTION_TIMEOUT, served).await);
                    drop(slot);
                });
            }
        }
    }

    async fn connection(self, stream: TcpStream) {
        let service = service_fn(|request| {
            let refusal = self.refusal(&request);
            let scrape = &self;
            async move { Ok::<_, Infallible>(scrape.answer_on_port(refusal).await) }
        });
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .serve_connection(TokioIo::new(stream), service);
        if let Err(error) = served.await {
            tracing::debug!(%error, "a connection to the port of the metrics ended early");
        }
    }
}
