//! Shared code of all fake vendors: a server that records requests, checks them against the vendor's
//! documentation with a judge, and can be set to misbehave.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;
use url::Url;

/// Part of every error response. It must never appear in our output.
pub const SECRET_BODY: &str = "SECRET-BODY";
/// The maximum that a vendor reads.
const MAX_REQUEST_BYTES: usize = 64 << 20;
/// How much of a response to send at a time.
const PIECE_BYTES: usize = 1024;

/// How a vendor behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Behavior {
    /// As documented.
    Fine,
    /// As documented; a program also writes a megabyte to stderr first.
    Loud,
    /// This status for any request, optionally with Retry-After. The body repeats the request.
    Status(u16, Option<&'static str>),
    /// Never begins to respond.
    Slow,
    /// Stalls after this many bytes of the correct response.
    Stall(usize),
    /// Closes the connection after this many bytes of the correct response.
    BreakOff(usize),
    /// 200 with an empty body.
    Empty,
    /// 200 with a web page, like a proxy that requires a login.
    NotAudio,
    /// 200 with unrelated JSON.
    OtherJson,
    /// 307 to another address of the same server.
    Redirect,
}

/// A received request.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    pub method: String,
    /// Percent-encoded, as received.
    pub path: String,
    /// Decoded, in order.
    pub query: Vec<(String, String)>,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl ReceivedRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// The result of a judge.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The correct response, with its media type.
    Fine(&'static str, Vec<u8>),
    /// The documented status and the reason. Tests read the reason; callers must not see it.
    Refused(u16, String),
}

impl Verdict {
    pub fn refused(status: u16, why: impl Into<String>) -> Self {
        Self::Refused(status, why.into())
    }
}

/// Checks a request against the vendor's documentation.
pub type Judge = Arc<dyn Fn(ReceivedRequest) -> BoxFuture<'static, Verdict> + Send + Sync>;

/// Returns a synchronous judge.
pub fn judge(verdict: impl Fn(&ReceivedRequest) -> Verdict + Send + Sync + 'static) -> Judge {
    Arc::new(move |seen| Box::pin(std::future::ready(verdict(&seen))))
}

/// A vendor's server.
pub struct Server {
    origin: Url,
    shared: Arc<Shared>,
    _tasks: TaskTracker,
}

struct Shared {
    judge: Judge,
    behavior: Mutex<Behavior>,
    seen: Mutex<Vec<ReceivedRequest>>,
    complaints: Mutex<Vec<String>>,
    asked: watch::Sender<usize>,
    left: watch::Sender<usize>,
    /// Whether responses wait.
    is_held: watch::Sender<bool>,
}

impl Server {
    /// Starts the server with [`Behavior::Fine`].
    pub async fn start(judge: Judge) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
        let shared = Arc::new(Shared {
            judge,
            behavior: Mutex::new(Behavior::Fine),
            seen: Mutex::default(),
            complaints: Mutex::default(),
            asked: watch::Sender::new(0),
            left: watch::Sender::new(0),
            is_held: watch::Sender::new(false),
        });
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let tasks = TaskTracker::new();
        tasks.spawn(async move { axum::serve(listener, router).await });
        Self {
            origin,
            shared,
            _tasks: tasks,
        }
    }

    /// Returns the server's address with this path.
    pub fn url(&self, path: &str) -> Url {
        self.origin.join(path).unwrap()
    }

    pub fn set_behavior(&self, behavior: Behavior) {
        *self.shared.behavior.lock().unwrap() = behavior;
    }

    /// Holds responses until [`Self::release`].
    pub fn hold(&self) {
        self.shared.is_held.send_replace(true);
    }

    pub fn release(&self) {
        self.shared.is_held.send_replace(false);
    }

    /// Returns the requests received, in order.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// Returns the reasons for the rejections.
    pub fn complaints(&self) -> Vec<String> {
        self.shared.complaints.lock().unwrap().clone()
    }

    /// Waits for this number of requests.
    pub async fn asked(&self, times: usize) {
        let mut asked = self.shared.asked.subscribe();
        let waiting = asked.wait_for(|seen| *seen >= times);
        let waited = tokio::time::timeout(Duration::from_secs(10), waiting).await;
        waited.expect("the vendor was not asked").unwrap();
    }

    /// Returns whether a client disconnected within a second, before the response was complete.
    pub async fn was_left(&self) -> bool {
        let mut left = self.shared.left.subscribe();
        let waiting = left.wait_for(|left| *left > 0);
        let waited = tokio::time::timeout(Duration::from_secs(1), waiting).await;
        waited.is_ok()
    }
}

/// Counts clients that disconnect early.
struct Attention {
    shared: Arc<Shared>,
    done: bool,
}

impl Drop for Attention {
    fn drop(&mut self) {
        if !self.done {
            self.shared.left.send_modify(|left| *left += 1);
        }
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let mut attention = Attention {
        shared: shared.clone(),
        done: false,
    };
    let seen = read(request).await;
    shared.seen.lock().unwrap().push(seen.clone());
    let behavior = shared.behavior.lock().unwrap().clone();
    shared.asked.send_modify(|asked| *asked += 1);
    let mut held = shared.is_held.subscribe();
    held.wait_for(|is_held| !is_held).await.unwrap();
    let (status, media, bytes, end) = match behavior {
        Behavior::Fine | Behavior::Loud => right_answer(&shared, seen, End::Done).await,
        Behavior::Stall(_) => right_answer(&shared, seen, End::Stall).await,
        Behavior::BreakOff(_) => right_answer(&shared, seen, End::Break).await,
        Behavior::Slow => std::future::pending().await,
        Behavior::Empty => (200, "audio/mpeg", Vec::new(), End::Done),
        Behavior::NotAudio => {
            let page = format!("<!doctype html><title>Log in</title><p>{SECRET_BODY}");
            (200, "text/html; charset=utf-8", page.into(), End::Done)
        }
        Behavior::OtherJson => {
            let body = serde_json::json!({ "detail": SECRET_BODY }).to_string();
            (200, "application/json", body.into(), End::Done)
        }
        Behavior::Redirect => (307, "text/plain", SECRET_BODY.into(), End::Done),
        Behavior::Status(status, _) => (status, "application/json", repeated(&seen), End::Done),
    };
    let mut response = Response::builder()
        .status(StatusCode::from_u16(status).unwrap())
        .header(header::CONTENT_TYPE, media);
    if let Behavior::Status(_, Some(after)) = behavior {
        response = response.header(header::RETRY_AFTER, after);
    }
    if behavior == Behavior::Redirect {
        response = response.header(header::LOCATION, "/elsewhere");
    }
    let bytes = match behavior {
        Behavior::Stall(most) | Behavior::BreakOff(most) if status == 200 => {
            bytes.into_iter().take(most).collect()
        }
        _ => bytes,
    };
    attention.done = true;
    response.body(body(shared, &bytes, end)).unwrap()
}

/// What follows the last byte.
#[derive(Clone, Copy)]
enum End {
    Done,
    Stall,
    Break,
}

async fn right_answer(
    shared: &Shared,
    seen: ReceivedRequest,
    end: End,
) -> (u16, &'static str, Vec<u8>, End) {
    match (shared.judge)(seen).await {
        Verdict::Fine(media, bytes) => (200, media, bytes, end),
        Verdict::Refused(status, why) => {
            let body =
                serde_json::json!({ "error": { "message": format!("{SECRET_BODY}: {why}") } });
            shared.complaints.lock().unwrap().push(why);
            (
                status,
                "application/json",
                body.to_string().into(),
                End::Done,
            )
        }
    }
}

/// Returns an error that repeats the request including keys, as some vendors do.
fn repeated(seen: &ReceivedRequest) -> Vec<u8> {
    let headers: Vec<String> = seen
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
        .collect();
    let message = format!(
        "{SECRET_BODY} {} {}",
        headers.join(", "),
        String::from_utf8_lossy(&seen.body)
    );
    serde_json::json!({ "error": { "message": message } })
        .to_string()
        .into()
}

/// Returns the bytes in chunks, followed by the end. Yields to other tasks between chunks.
fn body(shared: Arc<Shared>, bytes: &[u8], end: End) -> Body {
    let pieces: Vec<Bytes> = bytes
        .chunks(PIECE_BYTES)
        .map(Bytes::copy_from_slice)
        .collect();
    let count = pieces.len();
    let mut attention = Attention {
        shared,
        done: matches!(end, End::Break) || matches!(end, End::Done) && count == 0,
    };
    let last = match end {
        End::Done => stream::empty().boxed(),
        End::Stall => stream::pending().boxed(),
        End::Break => stream::once(async { Err(io::Error::other("broken off")) }).boxed(),
    };
    let slow = stream::iter(pieces)
        .map(Ok)
        .chain(last)
        .then(|piece| async {
            tokio::task::yield_now().await;
            piece
        });
    let whole = slow.enumerate().map(move |(index, piece)| {
        // Capture the whole value, so that it lives as long as the stream.
        let attention: &mut Attention = &mut attention;
        if matches!(end, End::Done) && index + 1 == count {
            attention.done = true;
        }
        piece
    });
    Body::from_stream(whole)
}

async fn read(request: Request) -> ReceivedRequest {
    let (parts, body) = request.into_parts();
    let query = parts.uri.query().unwrap_or_default();
    ReceivedRequest {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: url::form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect(),
        headers: parts.headers,
        body: axum::body::to_bytes(body, MAX_REQUEST_BYTES).await.unwrap(),
    }
}
