//! A vendor of speech and transcripts, after `OpenAI`'s reference
//! (<https://platform.openai.com/docs/api-reference/audio>). It refuses what the vendor would, and records
//! every byte that it receives.

use axum::body::{Body, to_bytes};
use axum::extract::{DefaultBodyLimit, Multipart, Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use gatehouse_audio::{Format, Sound, encode, sniff};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

pub const KEY: &str = "sk-vendor-4711";
/// The transcript of every recording.
pub const TRANSCRIPT: &str = "Hello there.";
/// The translation of every recording.
pub const TRANSLATION: &str = "Good morning.";
/// The input that it answers with 429.
pub const REFUSED: &str = "Refuse this.";
/// The error message for that input.
pub const REFUSAL: &str = "Rate limit reached for org-secret";

/// The fields of a form; for the file, its name.
pub type Form = BTreeMap<String, Vec<String>>;

#[derive(Default)]
struct ReceivedRequest {
    raw: Vec<Vec<u8>>,
    spoken: Vec<Value>,
    heard: Vec<Form>,
}

#[derive(Clone)]
pub struct Vendor {
    pub url: String,
    seen: Arc<Mutex<ReceivedRequest>>,
}

impl Vendor {
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let vendor = Self {
            url: format!("http://{}/v1", listener.local_addr().unwrap()),
            seen: Arc::default(),
        };
        let router = Router::new()
            .route("/v1/audio/speech", post(speak))
            .route("/v1/audio/transcriptions", post(listen))
            .route("/v1/audio/translations", post(translate))
            .route("/v1/chat/completions", post(chat))
            .layer(DefaultBodyLimit::disable())
            .layer(from_fn_with_state(vendor.clone(), admit))
            .with_state(vendor.clone());
        #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
        tokio::spawn(async move { axum::serve(listener, router).await });
        vendor
    }

    fn seen(&self) -> MutexGuard<'_, ReceivedRequest> {
        self.seen.lock().unwrap()
    }

    /// Takes the bodies of the speech requests since the last call.
    pub fn spoken(&self) -> Vec<Value> {
        std::mem::take(&mut self.seen().spoken)
    }

    /// Takes the forms of the transcription requests since the last call.
    pub fn heard(&self) -> Vec<Form> {
        std::mem::take(&mut self.seen().heard)
    }

    /// Returns the number of requests.
    pub fn requests(&self) -> usize {
        self.seen().raw.len()
    }

    /// Returns the number of requests that contain these bytes.
    pub fn requests_with(&self, bytes: &str) -> usize {
        let has = |one: &&Vec<u8>| {
            let mut parts = one.windows(bytes.len());
            parts.any(|part| part == bytes.as_bytes())
        };
        self.seen().raw.iter().filter(has).count()
    }
}

/// Streams an answer (<https://platform.openai.com/docs/api-reference/chat-streaming>): a call of the first tool that
/// is offered, unless the last message is the result of one.
async fn chat(Json(body): Json<Value>) -> Response {
    let last = body["messages"]
        .as_array()
        .and_then(|messages| messages.last())
        .unwrap();
    let delta = match &body["tools"][0]["function"]["name"] {
        Value::String(name) if name == "weather" && last["role"] == "user" => {
            let function = json!({ "name": name, "arguments": "{\"city\":\"Rome\"}" });
            json!({ "tool_calls": [{ "index": 0, "id": "call_1", "type": "function", "function": function }] })
        }
        _ => json!({ "content": format!("You said: {}", last["content"].as_str().unwrap()) }),
    };
    let events = [
        json!({ "choices": [{ "index": 0, "delta": delta }] }),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] }),
        json!({ "choices": [], "usage": { "prompt_tokens": 7, "completion_tokens": 1 } }),
    ];
    let events = events.map(|event| format!("data: {event}\n\n")).concat();
    (
        [("content-type", "text/event-stream")],
        events + "data: [DONE]\n\n",
    )
        .into_response()
}

/// Returns the vendor's audio for a text.
pub fn audio_of(text: &str, format: &str) -> Vec<u8> {
    encode(
        &sound(2400 + 240 * text.len()),
        Format::parse(format).unwrap(),
    )
    .unwrap()
}

/// Audio with this many samples at 24 kHz.
pub fn sound(samples: usize) -> Sound {
    let wave = |n: usize| i16::try_from(n % 200).unwrap() * 100 - 10_000;
    Sound {
        rate: 24_000,
        samples: (0..samples).map(wave).collect(),
    }
}

fn refuse(status: u16, message: &str) -> Response {
    let error = json!({ "error": { "message": message, "type": "invalid_request_error",
        "param": null, "code": null } });
    let status = StatusCode::from_u16(status).unwrap();
    // The gateway may try again at once, so tests do not wait for its own delays.
    let again = (status == StatusCode::TOO_MANY_REQUESTS).then_some([("retry-after", "0")]);
    (status, again, Json(error)).into_response()
}

/// Records the request and checks the key.
async fn admit(State(vendor): State<Vendor>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, 30 << 20).await.unwrap();
    let mut raw = format!("{} {:?}\n", parts.uri, parts.headers).into_bytes();
    raw.extend_from_slice(&bytes);
    vendor.seen().raw.push(raw);
    let given = parts.headers.get("authorization");
    if given.is_none_or(|given| *given != format!("Bearer {KEY}")) {
        return refuse(401, "Incorrect API key provided");
    }
    next.run(Request::from_parts(parts, Body::from(bytes)))
        .await
}

/// Returns the vendor's error for a speech request, if any.
fn fault_of_speech(body: &Value) -> Option<(u16, &'static str)> {
    let is = |name: &str, list: &str| {
        let value = body[name].as_str();
        value.is_some_and(|value| list.split(' ').any(|one| one == value))
    };
    let known = "model input voice response_format speed instructions";
    let is_known = |name: &String| known.split(' ').any(|one| one == name);
    if !body.as_object()?.keys().all(is_known) {
        return Some((400, "Unrecognized request argument"));
    }
    if !is("model", "tts-1 tts-1-hd gpt-4o-mini-tts") {
        return Some((404, "The model does not exist"));
    }
    let mut voices = "alloy ash coral echo fable nova onyx sage shimmer".to_owned();
    if body["model"] == "gpt-4o-mini-tts" {
        voices.push_str(" ballad cedar marin verse");
    }
    if !is("voice", &voices) {
        return Some((400, "Input should be 'alloy', …"));
    }
    if !is("response_format", "mp3 opus aac flac wav pcm") {
        return Some((400, "Input should be 'mp3', …"));
    }
    let length = body["input"]
        .as_str()
        .map_or(0, |text| text.chars().count());
    if !(1..=4096).contains(&length) {
        return Some((400, "String should have 1 to 4096 characters"));
    }
    let speed = &body["speed"];
    let is_speed = |speed: f64| (0.25..=4.0).contains(&speed);
    if !speed.is_null() && !speed.as_f64().is_some_and(is_speed) {
        return Some((400, "Input should be from 0.25 to 4"));
    }
    (body["input"] == REFUSED).then_some((429, REFUSAL))
}

async fn speak(State(vendor): State<Vendor>, Json(body): Json<Value>) -> Response {
    vendor.seen().spoken.push(body.clone());
    if let Some((status, message)) = fault_of_speech(&body) {
        return refuse(status, message);
    }
    let text = |name: &str| body[name].as_str().unwrap();
    let audio = audio_of(text("input"), text("response_format"));
    let media_type = Format::parse(text("response_format")).unwrap().mime_type();
    ([("content-type", media_type)], audio).into_response()
}

/// Returns the vendor's error for a transcription request, if any.
fn fault_of_recording(form: &Form) -> Option<(u16, &'static str)> {
    let known = "file model language prompt response_format temperature include[] \
        timestamp_granularities[] stream";
    let is_known = |name: &String| known.split(' ').any(|one| one == name);
    if !form.keys().all(is_known) {
        return Some((400, "Unrecognized request argument"));
    }
    let one = |name: &str| form.get(name).map_or("", |all| all[0].as_str());
    let Some((_, ending)) = one("file").rsplit_once('.') else {
        return Some((400, "Unrecognized file format"));
    };
    if ![
        "flac", "m4a", "mp3", "mp4", "mpeg", "mpga", "ogg", "wav", "webm",
    ]
    .contains(&ending)
    {
        return Some((400, "Unrecognized file format"));
    }
    let format = one("response_format");
    let fits = match one("model") {
        "whisper-1" => {
            !(form.contains_key("include[]") || form.contains_key("stream"))
                && ["", "json", "text", "srt", "verbose_json", "vtt"].contains(&format)
        }
        "gpt-4o-transcribe" | "gpt-4o-mini-transcribe" => ["", "json"].contains(&format),
        _ => return Some((404, "The model does not exist")),
    };
    if !fits || (form.contains_key("timestamp_granularities[]") && format != "verbose_json") {
        return Some((400, "response_format is not compatible with model"));
    }
    let language = one("language");
    if !(language.is_empty() || language.len() == 2) {
        return Some((400, "Invalid language; it must be in ISO-639-1 format"));
    }
    None
}

/// Records the form; returns it with its file.
async fn received(vendor: &Vendor, mut parts: Multipart) -> (Form, Vec<u8>) {
    let (mut form, mut recording) = (Form::new(), Vec::new());
    while let Some(field) = parts.next_field().await.unwrap() {
        let name = field.name().unwrap().to_owned();
        let value = if name == "file" {
            let file_name = field.file_name().unwrap().to_owned();
            recording = field.bytes().await.unwrap().to_vec();
            file_name
        } else {
            field.text().await.unwrap()
        };
        form.entry(name).or_default().push(value);
    }
    vendor.seen().heard.push(form.clone());
    (form, recording)
}

/// <https://platform.openai.com/docs/api-reference/audio/createTranslation>
async fn translate(State(vendor): State<Vendor>, parts: Multipart) -> Response {
    let (form, recording) = received(&vendor, parts).await;
    let known = "file model prompt response_format temperature";
    let is_known = |name: &String| known.split(' ').any(|one| one == name);
    if !form.keys().all(is_known) || form["model"] != ["whisper-1"] || sniff(&recording).is_none() {
        return refuse(400, "Unrecognized request argument");
    }
    let segment = json!({ "id": 0, "seek": 0, "start": 0.125, "end": 0.5, "text": TRANSLATION,
        "tokens": [1, 2], "temperature": 0.0, "avg_logprob": -0.1, "compression_ratio": 1.0,
        "no_speech_prob": 0.01 });
    let answer = match form.get("response_format") {
        Some(format) if *format == ["verbose_json"] => json!({ "task": "translate",
            "language": "english", "duration": 1.0, "text": TRANSLATION, "segments": [segment] }),
        _ => json!({ "text": TRANSLATION }),
    };
    Json(answer).into_response()
}

/// `TranscriptTextDeltaEvent` and `TranscriptTextDoneEvent` in `OpenAI`'s OpenAPI document.
fn events() -> Response {
    let delta = |text: &str| json!({ "type": "transcript.text.delta", "delta": text });
    let usage =
        json!({ "type": "tokens", "input_tokens": 14, "output_tokens": 5, "total_tokens": 19 });
    let done = json!({ "type": "transcript.text.done", "text": TRANSCRIPT, "usage": usage });
    let events = [delta("Hello "), delta("there."), done];
    let events = events.map(|event| format!("data: {event}\n\n")).concat();
    ([("content-type", "text/event-stream")], events).into_response()
}

async fn listen(State(vendor): State<Vendor>, parts: Multipart) -> Response {
    let (form, recording) = received(&vendor, parts).await;
    if let Some((status, message)) = fault_of_recording(&form) {
        return refuse(status, message);
    }
    if sniff(&recording).is_none() {
        return refuse(400, "Audio file might be corrupted or unsupported");
    }
    let has = |name: &str, value: &str| {
        let all = form.get(name);
        all.is_some_and(|all| all.iter().any(|one| one == value))
    };
    if has("stream", "true") {
        return events();
    }
    let mut answer = json!({ "text": TRANSCRIPT });
    if has("response_format", "verbose_json") {
        answer["task"] = json!("transcribe");
        answer["language"] = json!("english");
        answer["duration"] = json!(1.0);
        if has("timestamp_granularities[]", "word") {
            answer["words"] = json!([{ "word": "Hello", "start": 0.125, "end": 0.25 },
                { "word": "there", "start": 0.25, "end": 0.5 }]);
        }
        answer["segments"] = json!([{ "id": 0, "seek": 0, "start": 0.125, "end": 0.5,
            "text": TRANSCRIPT, "tokens": [1, 2], "temperature": 0.0, "avg_logprob": -0.1,
            "compression_ratio": 1.0, "no_speech_prob": 0.01 }]);
    }
    Json(answer).into_response()
}
