//! An HTTP server that acts as a vendor. It records each request and responds by its rule, or with a response set for
//! the next request.

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

/// A received request.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    pub method: Method,
    /// Path and query, as sent.
    pub target: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl ReceivedRequest {
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| str::from_utf8(value.as_bytes()).unwrap())
    }

    pub fn json(&self) -> Value {
        assert!(self.header("content-type").starts_with("application/json"));
        serde_json::from_slice(&self.body).unwrap()
    }

    pub fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap()
    }
}

/// Status, headers and body of a response.
pub type Answer = (u16, Vec<(&'static str, String)>, String);

pub fn answer(status: u16, body: &Value) -> Answer {
    (status, Vec::new(), body.to_string())
}

type Rule = Box<dyn Fn(&ReceivedRequest) -> Answer + Send + Sync>;

struct Shared {
    seen: Mutex<Vec<ReceivedRequest>>,
    ordered: Mutex<VecDeque<Answer>>,
    rule: Rule,
}

pub struct Vendor {
    shared: Arc<Shared>,
    address: SocketAddr,
}

impl Vendor {
    pub async fn start(rule: impl Fn(&ReceivedRequest) -> Answer + Send + Sync + 'static) -> Self {
        let shared = Arc::new(Shared {
            seen: Mutex::default(),
            ordered: Mutex::default(),
            rule: Box::new(rule),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let app = Router::new()
            .fallback(receive)
            .layer(DefaultBodyLimit::max(64 << 20))
            .with_state(Arc::clone(&shared));
        TaskTracker::new().spawn(async move { axum::serve(listener, app).await });
        Self { shared, address }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Sets the response to the next request of any kind.
    pub fn next(&self, answer: Answer) {
        self.shared.ordered.lock().unwrap().push_back(answer);
    }

    /// Returns requests since the last call.
    pub fn take(&self) -> Vec<ReceivedRequest> {
        std::mem::take(&mut self.shared.seen.lock().unwrap())
    }

    /// Returns the only request since the last call.
    pub fn take_one(&self) -> ReceivedRequest {
        let mut all = self.take();
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }
}

async fn receive(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let seen = ReceivedRequest {
        method,
        target: uri.path_and_query().unwrap().as_str().to_owned(),
        headers,
        body,
    };
    let ordered = shared.ordered.lock().unwrap().pop_front();
    let (status, headers, text) = ordered.unwrap_or_else(|| (shared.rule)(&seen));
    shared.seen.lock().unwrap().push(seen);
    let mut response = (StatusCode::from_u16(status).unwrap(), text).into_response();
    for (name, value) in headers {
        response.headers_mut().insert(name, value.parse().unwrap());
    }
    response
}
