//! A scripted vendor that records its requests.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use futures_util::stream::{self, StreamExt};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;
use url::Url;

/// A recorded request.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    pub method: String,
    pub path: String,
    pub headers: HeaderMap,
    pub body: Value,
}

impl ReceivedRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// What follows the pieces of an answer.
#[derive(Clone, Debug)]
pub enum Then {
    End,
    /// Nothing; the connection stays open.
    Hang,
    /// This text, without end.
    Repeat(&'static str),
    /// The connection breaks.
    Break,
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub pieces: Vec<Vec<u8>>,
    pub then: Then,
}

impl Answer {
    /// Returns a stream of events, in these pieces.
    pub fn stream<P: AsRef<[u8]>>(pieces: impl IntoIterator<Item = P>) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type", "text/event-stream".to_owned())],
            pieces: pieces.into_iter().map(|p| p.as_ref().to_vec()).collect(),
            then: Then::End,
        }
    }

    pub fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            pieces: vec![body.to_string().into_bytes()],
            then: Then::End,
        }
    }

    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub fn then(mut self, then: Then) -> Self {
        self.then = then;
        self
    }
}

/// Refuses a request as a vendor does: the status and the error.
pub type Rule = fn(&ReceivedRequest) -> Result<(), (u16, Value)>;

struct Shared {
    rules: Vec<Rule>,
    asked: Mutex<Vec<ReceivedRequest>>,
    answers: Mutex<VecDeque<Answer>>,
    closed: mpsc::Sender<()>,
}

pub struct Vendor {
    pub url: Url,
    shared: Arc<Shared>,
    closed: mpsc::Receiver<()>,
    _tasks: TaskTracker,
}

/// Sends a message when the response body that holds it is dropped.
struct Guard(mpsc::Sender<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.try_send(());
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 16 << 20).await.unwrap();
    let asked = ReceivedRequest {
        method: parts.method.to_string(),
        path: parts.uri.to_string(),
        headers: parts.headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    let refused = shared.rules.iter().find_map(|rule| rule(&asked).err());
    shared.asked.lock().unwrap().push(asked);
    let next = match refused {
        Some((status, error)) => Some(Answer::json(status, &error)),
        None => shared.answers.lock().unwrap().pop_front(),
    };
    let Some(answer) = next else {
        return Response::builder()
            .status(StatusCode::NOT_IMPLEMENTED)
            .body(Body::empty())
            .unwrap();
    };
    let mut response = Response::builder().status(answer.status);
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    let guard = Guard(shared.closed.clone());
    let pieces =
        stream::iter(answer.pieces).map(|piece| Ok::<_, std::io::Error>(Bytes::from(piece)));
    let rest = match answer.then {
        Then::End => stream::empty().boxed(),
        Then::Hang => stream::pending().boxed(),
        Then::Repeat(text) => stream::repeat_with(move || Ok(Bytes::from(text))).boxed(),
        Then::Break => stream::once(async { Err(std::io::Error::other("broken")) }).boxed(),
    };
    // Yield between pieces, so that each is sent separately.
    let slow = pieces.chain(rest).then(|piece| async {
        tokio::task::yield_now().await;
        piece
    });
    let guarded = slow.map(move |piece| {
        let _ = &guard;
        piece
    });
    response.body(Body::from_stream(guarded)).unwrap()
}

impl Vendor {
    /// Creates a vendor that gives these answers in order. Its base path is `/v1`.
    pub async fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::strict([], answers).await
    }

    /// Does the same as [`Self::new`], but a request that breaks a rule is refused and uses up no
    /// answer.
    pub async fn strict(
        rules: impl IntoIterator<Item = Rule>,
        answers: impl IntoIterator<Item = Answer>,
    ) -> Self {
        let (sender, closed) = mpsc::channel(64);
        let shared = Arc::new(Shared {
            rules: rules.into_iter().collect(),
            asked: Mutex::default(),
            answers: Mutex::new(answers.into_iter().collect()),
            closed: sender,
        });
        let app = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&shared));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let tasks = TaskTracker::new();
        tasks.spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self {
            url: Url::parse(&format!("http://{address}/v1")).unwrap(),
            shared,
            closed,
            _tasks: tasks,
        }
    }

    pub fn then_answers(&self, answer: Answer) {
        self.shared.answers.lock().unwrap().push_back(answer);
    }

    pub fn asked(&self) -> Vec<ReceivedRequest> {
        self.shared.asked.lock().unwrap().clone()
    }

    pub fn only(&self) -> ReceivedRequest {
        let asked = self.asked();
        assert_eq!(asked.len(), 1, "{asked:?}");
        asked[0].clone()
    }

    /// Waits until a response body is dropped.
    pub async fn body_dropped(&mut self) {
        self.closed.recv().await.unwrap();
    }
}

/// Returns an address without a listener.
pub async fn nobody() -> Url {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    Url::parse(&format!("http://{address}/v1")).unwrap()
}

/// Formats each event as the vendors send it.
pub fn events(data: &[&str]) -> String {
    let mut text = String::new();
    for data in data {
        text.push_str("data: ");
        text.push_str(data);
        text.push_str("\n\n");
    }
    text
}
