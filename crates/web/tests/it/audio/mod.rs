//! Audio over HTTP and automatically spoken answers: a real server, a fake speech vendor that follows
//! `OpenAI`'s documentation, and a scripted model.

mod auto_speak;
mod openai;
mod session_audio;
mod speech_events;
mod spoken_parts;
mod stream;
mod talk;
mod transcript_events;
mod translations;
pub mod vendor;
mod voices;
mod wyoming;

use axum::body::Body;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::post;
use axum::{Json, Router};
use futures_util::StreamExt;
use gatehouse_audio::{Format, Sound, encode};
use gatehouse_testkit::{Actor, Options, Reply, TestServer};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use vendor::Vendor;

/// A piece of an answer after which the model waits for [`Model::go_on`].
const HOLD: &str = "<hold>";
/// The beginning of a piece that the model thinks and does not say.
const THOUGHT: &str = "<thought>";
/// A piece that is a call of the tool `calc`.
const CALL: &str = "<call>";

/// A fake model: the scripted answers, each in pieces, and the requests it received.
#[derive(Clone, Default)]
struct Model {
    held: Arc<Notify>,
    script: Arc<Mutex<VecDeque<Vec<String>>>>,
    seen: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    fn will_say(&self, pieces: &[&str]) {
        let pieces = pieces.iter().map(|piece| (*piece).to_owned()).collect();
        self.script.lock().unwrap().push_back(pieces);
    }

    fn go_on(&self) {
        self.held.notify_one();
    }

    /// The system prompt of the latest request.
    fn prompt(&self) -> String {
        let seen = self.seen.lock().unwrap();
        seen.last().unwrap()["messages"][0]["content"].to_string()
    }
}

/// Streams like `OpenAI` (<https://platform.openai.com/docs/api-reference/chat-streaming>).
async fn answer(State(model): State<Model>, Json(body): Json<Value>) -> impl IntoResponse {
    model.seen.lock().unwrap().push(body);
    let pieces = model.script.lock().unwrap().pop_front();
    let pieces = pieces.unwrap_or_else(|| vec!["pong".to_owned()]);
    let reason = if pieces.iter().any(|piece| piece == CALL) {
        "tool_calls"
    } else {
        "stop"
    };
    let delta = |piece: String| {
        let delta = match piece.strip_prefix(THOUGHT) {
            Some(thought) => json!({ "reasoning_content": thought }),
            None if piece == CALL => {
                let call = json!({ "name": "calc", "arguments": "{\"expression\":\"1+1\"}" });
                json!({ "tool_calls": [{ "index": 0, "id": "call_1", "type": "function", "function": call }] })
            }
            None => json!({ "content": piece }),
        };
        let event = json!({ "choices": [{ "index": 0, "delta": delta }] });
        (piece == HOLD, format!("data: {event}\n\n"))
    };
    let mut events: Vec<(bool, String)> = pieces.into_iter().map(delta).collect();
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] });
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 7, "completion_tokens": 1 } });
    events.push((false, format!("data: {end}\n\n")));
    events.push((false, format!("data: {usage}\n\ndata: [DONE]\n\n")));
    let events = futures_util::stream::iter(events).then(move |(is_held, event)| {
        let held = model.held.clone();
        async move {
            if is_held {
                held.notified().await;
                return Ok(String::new());
            }
            Ok::<_, Infallible>(event)
        }
    });
    let body = Body::from_stream(events);
    ([("content-type", "text/event-stream")], body)
}

struct Harness {
    server: TestServer,
    owner: Actor,
    model: Model,
    vendor: Vendor,
}

impl Harness {
    async fn new() -> Self {
        Self::with(Options::default()).await
    }

    async fn with(options: Options) -> Self {
        let model = Model::default();
        let router = Router::new()
            .route("/v1/chat/completions", post(answer))
            .with_state(model.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
        tokio::spawn(async move { axum::serve(listener, router).await });
        let vendor = Vendor::start().await;
        let options = options
            .env("SERVICE_MODELS__PROVIDERS__FAKE__BASE_URL", &url)
            .env("SERVICE_MODELS__PROVIDERS__FAKE__API_KEY", "sk-test")
            .env("SERVICE_MODELS__DEFAULT", "fake/m1")
            .env("SERVICE_VOICE__CACHE_MAX_BYTES", "0")
            .env("SERVICE_VOICE__TTS__OPENAI__BASE_URL", &vendor.url)
            .env("SERVICE_VOICE__TTS__OPENAI__API_KEY", vendor::KEY)
            .env("SERVICE_VOICE__STT__WHISPER__BASE_URL", &vendor.url)
            .env("SERVICE_VOICE__STT__WHISPER__API_KEY", vendor::KEY);
        let server = TestServer::start(options).await;
        let owner = server.set_up().await;
        Self {
            server,
            owner,
            model,
            vendor,
        }
    }

    async fn set(&self, key: &str, value: Value) {
        let set = self
            .owner
            .rpc("config.set", json!({ "key": key, "value": value }));
        set.await.unwrap();
    }

    /// Sends a message to a session, or to a new one, and waits for the answer.
    async fn say(&self, session: Option<&str>, text: &str) -> Value {
        let params = json!({ "session": session, "text": text });
        self.owner.rpc("chat.send_sync", params).await.unwrap()
    }

    /// Creates a session with one question and one answer.
    async fn session(&self) -> String {
        let answer = self.say(None, "ping").await;
        answer["session"].as_str().unwrap().to_owned()
    }

    async fn messages(&self, session: &str) -> Vec<Value> {
        let path = format!("/api/sessions/{session}/messages");
        let page = self.owner.get(&path).await.expect(200);
        page["messages"].as_array().unwrap().clone()
    }

    /// Fetches audio of a session with its response headers.
    async fn fetch(&self, session: &str, audio: &str) -> Bytes {
        let path = format!("/api/sessions/{session}/audio/{audio}");
        fetch(&self.owner, &path, &[]).await
    }
}

/// A binary response.
struct Bytes {
    status: u16,
    headers: reqwest::header::HeaderMap,
    body: Vec<u8>,
}

impl Bytes {
    fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }
}

async fn fetch(actor: &Actor, path: &str, headers: &[(&str, &str)]) -> Bytes {
    let mut request = actor.request("GET", path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    bytes(request).await
}

async fn bytes(request: reqwest::RequestBuilder) -> Bytes {
    let response = request.send().await.unwrap();
    Bytes {
        status: response.status().as_u16(),
        headers: response.headers().clone(),
        body: response.bytes().await.unwrap().to_vec(),
    }
}

/// A test tone with this number of samples at 24 kHz.
fn sound(samples: usize) -> Sound {
    let wave = |n: usize| i16::try_from(n % 200).unwrap() * 100 - 10_000;
    Sound {
        rate: 24_000,
        samples: (0..samples).map(wave).collect(),
    }
}

fn wav() -> Vec<u8> {
    encode(&sound(24_000), Format::Wav).unwrap()
}

/// Builds a form as a browser sends it, from the rest of each part's header and its value.
fn form(parts: &[(&str, &[u8])]) -> (&'static str, Vec<u8>) {
    let mut body = Vec::new();
    for (head, value) in parts {
        let head = format!("--edge\r\nContent-Disposition: form-data; name={head}\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(value);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--edge--\r\n");
    ("multipart/form-data; boundary=edge", body)
}

/// Sends a recording with these fields.
async fn upload(client: &Actor, path: &str, fields: &[(&str, &str)]) -> Reply {
    let audio = wav();
    let mut parts: Vec<(String, &[u8])> = fields
        .iter()
        .map(|(name, value)| (format!("\"{name}\""), value.as_bytes()))
        .collect();
    parts.push(("\"file\"; filename=\"a.wav\"".to_owned(), &audio));
    let parts: Vec<(&str, &[u8])> = parts.iter().map(|(head, v)| (head.as_str(), *v)).collect();
    let (media_type, body) = form(&parts);
    client
        .send_bytes("POST", path, Some(media_type), body)
        .await
}
