//! Audio over HTTP and automatically spoken answers, with a real server, a scripted model and a fake speech vendor that
//! follows `OpenAI`'s documentation.

mod auto_speak;
mod openai;
mod session_audio;
mod speech_events;
mod spoken_parts;
mod stream;
mod talk;
mod traces;
mod transcript_events;
mod translations;
pub mod vendor;
mod voices;
mod wyoming;
mod wyoming_program;

use gatehouse_audio::{Format, Sound, encode};
use gatehouse_doubles::openai::{FakeModel, Part, Reaction, say};
use gatehouse_testkit::{Actor, Options, Reply, TestServer};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use vendor::Vendor;

/// A piece of an answer after which the model waits for [`Model::go_on`].
const HOLD: &str = "<hold>";
/// The beginning of a chunk that is reasoning and not part of the answer.
const THOUGHT: &str = "<thought>";
/// A piece that is a call of the tool `calc`.
const CALL: &str = "<call>";

/// A fake model whose answers are given as texts.
struct Model {
    fake: FakeModel,
    held: Arc<Semaphore>,
}

impl Model {
    async fn start() -> Self {
        Self {
            fake: FakeModel::answering(|_| say("pong")).await,
            held: Arc::new(Semaphore::new(0)),
        }
    }

    fn will_say(&self, pieces: &[&str]) {
        let reason = if pieces.contains(&CALL) {
            "tool_calls"
        } else {
            "stop"
        };
        let part = |piece: &&str| match *piece {
            HOLD => Part::Wait(Arc::clone(&self.held)),
            CALL => {
                let arguments = json!({ "expression": "1+1" }).to_string();
                Part::Call("call_1".to_owned(), "calc".to_owned(), arguments)
            }
            text => match text.strip_prefix(THOUGHT) {
                Some(thought) => Part::Thought(thought.to_owned()),
                None => Part::text(text),
            },
        };
        let parts = pieces.iter().map(part).collect();
        self.fake.will([Reaction::Parts(parts, reason.to_owned())]);
    }

    fn go_on(&self) {
        self.held.add_permits(1);
    }

    /// Returns the system prompt of the latest request.
    fn prompt(&self) -> String {
        let seen = self.fake.seen();
        seen.last().unwrap()["messages"][0]["content"].to_string()
    }
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
        let model = Model::start().await;
        let vendor = Vendor::start().await;
        let options = options
            .model(&model.fake.url, "m1")
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

    /// Makes a call with a key that is revoked while the vendor transcribes. `then` runs after the revocation.
    async fn revoke_during(
        &self,
        call: impl AsyncFnOnce(Actor) -> Reply,
        then: impl FnOnce(),
    ) -> Reply {
        let keys = "/api/auth/api-keys";
        let key = json!({ "label": "x", "scopes": ["operator.write"] });
        let made = self.owner.post(keys, key).await.expect(200);
        let client = self.server.local().bearer(made["key"].as_str().unwrap());
        let heard = self.vendor.heard().len();
        self.vendor.hold_transcripts(true);
        let ending = async {
            let started = async {
                while self.vendor.heard().len() == heard {
                    tokio::task::yield_now().await;
                }
            };
            let started = tokio::time::timeout(Duration::from_mins(1), started).await;
            assert!(started.is_ok(), "the vendor got no request");
            let path = format!("{keys}/{}", made["id"].as_str().unwrap());
            self.owner.delete(&path).await.expect(200);
            then();
            self.vendor.hold_transcripts(false);
        };
        let (reply, ()) = tokio::join!(call(client), ending);
        reply
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

/// Returns a test tone with this number of samples at 24 kHz.
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
