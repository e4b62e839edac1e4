//! Voice: `tts.*`, `stt.*`, `voice.personas.*`.

mod containers;
mod keys;
mod personas;
mod stt;
mod tts;

use crate::steps::light_owner;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

const KEY: &str = "sk-openai-test";
/// A tenth of a second of silence: 16 bits, mono, 24 kHz.
const SILENCE: [u8; 4800] = [0; 4800];

/// A fake vendor of speech and transcripts that follows `OpenAI`'s reference
/// (<https://platform.openai.com/docs/api-reference/audio>), and the requests it received.
#[derive(Clone, Default)]
struct Vendor(Arc<Mutex<Vec<Value>>>);

impl Vendor {
    async fn start() -> (Self, String) {
        let vendor = Self::default();
        let router = Router::new()
            .route("/v1/audio/speech", post(speak))
            .route("/v1/audio/transcriptions", post(listen))
            .layer(DefaultBodyLimit::disable())
            .with_state(vendor.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
        tokio::spawn(async move { axum::serve(listener, router).await });
        (vendor, url)
    }

    /// Returns the bodies of the requests so far.
    fn heard(&self) -> Vec<Value> {
        self.0.lock().unwrap().clone()
    }
}

fn is_known(headers: &HeaderMap) -> bool {
    let given = headers
        .get("authorization")
        .and_then(|value| value.to_str().ok());
    given == Some(&format!("Bearer {KEY}"))
}

/// Refuses invalid requests. Some texts request a failure.
async fn speak(State(vendor): State<Vendor>, headers: HeaderMap, body: Bytes) -> Response {
    if !is_known(&headers) {
        return (StatusCode::UNAUTHORIZED, KEY).into_response();
    }
    let Ok(body) = serde_json::from_slice::<Value>(&body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let known = [
        "model",
        "input",
        "voice",
        "instructions",
        "response_format",
        "speed",
    ];
    let fields = body.as_object().unwrap();
    if fields.keys().any(|name| !known.contains(&name.as_str()))
        || ["model", "input", "voice"]
            .iter()
            .any(|name| !body[*name].is_string())
    {
        return StatusCode::BAD_REQUEST.into_response();
    }
    vendor.0.lock().unwrap().push(body.clone());
    let input = body["input"].as_str().unwrap().to_owned();
    if let Some(status) = input.strip_prefix("fail-") {
        // The vendor's message must not reach the caller.
        let status = StatusCode::from_bytes(status.as_bytes()).unwrap();
        return (status, [("retry-after", "7")], format!("hunter2 {input}")).into_response();
    }
    match (
        input.as_str(),
        body["response_format"].as_str().unwrap_or("mp3"),
    ) {
        ("nothing", _) => audio(Vec::new()),
        // Some local servers ignore the format.
        (text, _) if text.starts_with("as-wav") => audio([wav_head(), SILENCE.to_vec()].concat()),
        ("as-riff", _) => audio(wav_head()[..20].to_vec()),
        (_, "pcm") => audio(SILENCE.to_vec()),
        (_, "wav") => audio([wav_head(), SILENCE.to_vec()].concat()),
        _ => audio(b"no audio at all".to_vec()),
    }
}

fn audio(bytes: Vec<u8>) -> Response {
    ([("content-type", "application/octet-stream")], bytes).into_response()
}

/// RIFF WAVE, PCM (<https://learn.microsoft.com/windows/win32/multimedia/multimedia-file-format>).
fn wav_head() -> Vec<u8> {
    let length = u32::try_from(SILENCE.len()).unwrap();
    let mut head = b"RIFF".to_vec();
    head.extend((36 + length).to_le_bytes());
    head.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    head.extend(24_000_u32.to_le_bytes());
    head.extend(48_000_u32.to_le_bytes());
    head.extend(b"\x02\0\x10\0data");
    head.extend(length.to_le_bytes());
    head
}

async fn listen(State(vendor): State<Vendor>, headers: HeaderMap, body: Bytes) -> Response {
    if !is_known(&headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let text = String::from_utf8_lossy(&body);
    let is_form = headers
        .get("content-type")
        .is_some_and(|kind| kind.as_bytes().starts_with(b"multipart/form-data"));
    let has = |name: &str| text.contains(&format!("name=\"{name}\""));
    if !is_form || !has("file") || !has("model") {
        return StatusCode::BAD_REQUEST.into_response();
    }
    vendor.0.lock().unwrap().push(json!({
        "prompt": has("prompt"), "language": has("language"), "bytes": body.len(),
    }));
    axum::Json(json!({
        "task": "transcribe", "language": "english", "duration": 1.5, "text": "Hello there.",
        "words": [
            { "word": "Hello", "start": 0.0, "end": 0.5 },
            { "word": "there", "start": 0.5, "end": 1.25 },
        ],
        "segments": [
            { "id": 0, "seek": 0, "start": 0.0, "end": 1.25, "text": " Hello there.", "tokens": [],
              "temperature": 0.0, "avg_logprob": 0.0, "compression_ratio": 1.0, "no_speech_prob": 0.01 },
        ],
    }))
    .into_response()
}

/// Returns a server that uses the fake vendor for speech and transcripts.
async fn with_vendor(options: Options) -> (TestServer, Actor, Vendor) {
    let (vendor, url) = Vendor::start().await;
    let options = options
        .env("SERVICE_VOICE__TTS__OPENAI__BASE_URL", &url)
        .env("SERVICE_VOICE__TTS__OPENAI__API_KEY", KEY)
        .env("SERVICE_VOICE__STT__WHISPER__BASE_URL", &url)
        .env("SERVICE_VOICE__STT__WHISPER__API_KEY", KEY);
    let (server, owner) = light_owner(options).await;
    (server, owner, vendor)
}

/// Returns the error data of a refused call.
async fn refusal(actor: &Actor, method: &str, params: Value) -> Value {
    let answer = actor.rpc_reply(method, params).await.expect(200);
    assert!(answer.get("result").is_none(), "{method}: {answer}");
    let mut data = answer["error"]["data"].clone();
    data["message"] = answer["error"]["message"].clone();
    data
}

/// Returns the error code, and the field or setting that the error names.
async fn blamed(actor: &Actor, method: &str, params: Value) -> (String, String) {
    let data = refusal(actor, method, params).await;
    let named = ["field", "what"]
        .iter()
        .find_map(|name| data[*name].as_str());
    let code = data["code"].as_str().unwrap().to_owned();
    (code, named.unwrap_or_default().to_owned())
}

fn bad(code: &str, named: &str) -> (String, String) {
    (code.to_owned(), named.to_owned())
}
