//! A fake vendor of speech and transcripts that follows `OpenAI`'s reference
//! (<https://platform.openai.com/docs/api-reference/audio>). It refuses what the vendor would refuse.

use super::sound;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Multipart, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use gatehouse_audio::{Format, encode};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};

/// The number of attempts of a call that fails temporarily.
pub const ATTEMPTS: usize = 4;
pub const KEY: &str = "sk-voice-test";
const MODELS: [&str; 3] = ["tts-1", "tts-1-hd", "gpt-4o-mini-tts"];
const VOICES: [&str; 11] = [
    "alloy", "ash", "ballad", "coral", "echo", "fable", "onyx", "nova", "sage", "shimmer", "verse",
];

/// The fields of a form. The value of a file field is the file name.
type Form = BTreeMap<String, Vec<String>>;

#[derive(Clone)]
pub struct Vendor {
    pub url: String,
    spoken: Arc<Mutex<Vec<Value>>>,
    /// The number of speech requests.
    asked: watch::Sender<usize>,
    heard: Arc<Mutex<Vec<Form>>>,
    /// The next transcript.
    transcript: Arc<Mutex<String>>,
    /// The number of callers that disconnected before the end.
    left: watch::Sender<usize>,
    /// Whether transcripts wait.
    held: watch::Sender<bool>,
}

impl Vendor {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let vendor = Self {
            url: format!("http://{}/v1", listener.local_addr().unwrap()),
            spoken: Arc::default(),
            asked: watch::Sender::new(0),
            heard: Arc::default(),
            transcript: Arc::new(Mutex::new("Hello there.".to_owned())),
            left: watch::Sender::new(0),
            held: watch::Sender::new(false),
        };
        let router = Router::new()
            .route("/v1/audio/speech", post(speak))
            .route("/v1/audio/transcriptions", post(listen))
            .route("/v1/audio/translations", post(translate))
            .layer(DefaultBodyLimit::max(26 << 20))
            .with_state(vendor.clone());
        #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
        tokio::spawn(async move { axum::serve(listener, router).await });
        vendor
    }

    pub fn will_hear(&self, text: &str) {
        text.clone_into(&mut self.transcript.lock().unwrap());
    }

    /// Answers no transcription request while `is_held`.
    pub fn hold_transcripts(&self, is_held: bool) {
        self.held.send_replace(is_held);
    }

    /// Returns the bodies of the speech requests.
    pub fn spoken(&self) -> Vec<Value> {
        self.spoken.lock().unwrap().clone()
    }

    /// Returns the texts of the speech requests.
    pub fn texts(&self) -> Vec<String> {
        let spoken = self.spoken();
        let text = |body: &Value| body["input"].as_str().unwrap().to_owned();
        spoken.iter().map(text).collect()
    }

    /// Returns the forms of the transcription requests.
    pub fn heard(&self) -> Vec<Form> {
        self.heard.lock().unwrap().clone()
    }

    /// Waits for this number of speech requests.
    pub async fn until_asked(&self, count: usize) {
        let mut asked = self.asked.subscribe();
        asked.wait_for(|asked| *asked >= count).await.unwrap();
    }

    /// Waits for this number of disconnected callers.
    pub async fn until_left(&self, count: usize) {
        let mut left = self.left.subscribe();
        left.wait_for(|left| *left >= count).await.unwrap();
    }

    fn refuse(status: u16, message: &str) -> Response {
        let error = json!({ "error": { "message": message, "type": "invalid_request_error",
            "param": null, "code": null } });
        let status = StatusCode::from_u16(status).unwrap();
        // Allows an immediate retry, so tests do not wait for the default delays.
        let again = (status == StatusCode::TOO_MANY_REQUESTS).then_some([("retry-after", "0")]);
        (status, again, Json(error)).into_response()
    }
}

/// Returns the audio for a text.
pub fn audio_of(text: &str, format: &str) -> Vec<u8> {
    let format = Format::parse(format).unwrap();
    encode(&sound(2400 + 240 * text.len()), format).unwrap()
}

fn is_known(headers: &HeaderMap) -> bool {
    headers
        .get("authorization")
        .is_some_and(|value| *value == format!("Bearer {KEY}"))
}

/// Returns the vendor's error for a speech request, if any.
fn fault(body: &Value) -> Option<(u16, &'static str)> {
    let known = [
        "model",
        "input",
        "voice",
        "response_format",
        "speed",
        "instructions",
    ];
    let is = |name: &str, list: &[&str]| body[name].as_str().is_some_and(|v| list.contains(&v));
    let members = body.as_object()?;
    if members.keys().any(|key| !known.contains(&key.as_str())) {
        return Some((400, "Unrecognized request argument"));
    }
    if !is("model", &MODELS) {
        return Some((404, "The model does not exist"));
    }
    if !is("voice", &VOICES) {
        return Some((400, "Input should be 'alloy', …"));
    }
    if !is(
        "response_format",
        &["mp3", "opus", "aac", "flac", "wav", "pcm"],
    ) {
        return Some((400, "Input should be 'mp3', …"));
    }
    let length = body["input"]
        .as_str()
        .map_or(0, |text| text.chars().count());
    if !(1..=4096).contains(&length) {
        return Some((400, "String should have 1 to 4096 characters"));
    }
    let speed = &body["speed"];
    if !speed.is_null()
        && !speed
            .as_f64()
            .is_some_and(|speed| (0.25..=4.0).contains(&speed))
    {
        return Some((400, "Input should be from 0.25 to 4"));
    }
    if body["input"] == "refuse" {
        return Some((429, "Rate limit reached"));
    }
    None
}

async fn speak(
    State(vendor): State<Vendor>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    if !is_known(&headers) {
        return Vendor::refuse(401, "Incorrect API key provided");
    }
    vendor.spoken.lock().unwrap().push(body.clone());
    vendor.asked.send_modify(|asked| *asked += 1);
    if let Some((status, message)) = fault(&body) {
        return Vendor::refuse(status, message);
    }
    let (text, format) = (
        body["input"].as_str().unwrap(),
        body["response_format"].as_str().unwrap(),
    );
    let audio = audio_of(text, format);
    let media_type = Format::parse(format).unwrap().mime_type();
    let body = match text {
        "break" => in_the_middle(
            &audio,
            Some(io::Error::other("the vendor has a fault")),
            None,
        ),
        "hang" => in_the_middle(&audio, None, Some(vendor.left.clone())),
        _ => Body::from(audio),
    };
    ([("content-type", media_type)], body).into_response()
}

/// Sends half of the audio, then an error. With `None`, sends nothing more until the caller
/// disconnects.
fn in_the_middle(
    audio: &[u8],
    error: Option<io::Error>,
    left: Option<watch::Sender<usize>>,
) -> Body {
    let (pieces, body) = mpsc::channel::<io::Result<Bytes>>(1);
    let half = Bytes::copy_from_slice(&audio[..audio.len() / 2]);
    #[expect(clippy::disallowed_methods, reason = "ends when the caller hangs up")]
    tokio::spawn(async move {
        drop(pieces.send(Ok(half)).await);
        if let Some(error) = error {
            drop(pieces.send(Err(error)).await);
        }
        if let Some(left) = left {
            pieces.closed().await;
            left.send_modify(|left| *left += 1);
        }
    });
    Body::from_stream(futures_util::stream::unfold(body, |mut body| async move {
        body.recv().await.map(|piece| (piece, body))
    }))
}

/// Records the form. Returns it with the size of its file.
async fn received(vendor: &Vendor, mut form: Multipart) -> (Form, usize) {
    let (mut fields, mut file) = (Form::new(), Vec::new());
    while let Some(field) = form.next_field().await.unwrap() {
        let name = field.name().unwrap().to_owned();
        let value = if name == "file" {
            let file_name = field.file_name().unwrap().to_owned();
            file = field.bytes().await.unwrap().to_vec();
            file_name
        } else {
            field.text().await.unwrap()
        };
        fields.entry(name).or_default().push(value);
    }
    vendor.heard.lock().unwrap().push(fields.clone());
    (fields, file.len())
}

fn first<'a>(fields: &'a Form, name: &str) -> &'a str {
    let all = fields.get(name).and_then(|all| all.first());
    all.map_or("", String::as_str)
}

/// <https://platform.openai.com/docs/api-reference/audio/createTranslation>
async fn translate(State(vendor): State<Vendor>, headers: HeaderMap, form: Multipart) -> Response {
    if !is_known(&headers) {
        return Vendor::refuse(401, "Incorrect API key provided");
    }
    let (fields, size) = received(&vendor, form).await;
    let known = ["file", "model", "prompt", "response_format", "temperature"];
    if size == 0 || fields.keys().any(|name| !known.contains(&name.as_str())) {
        return Vendor::refuse(400, "Unrecognized request argument");
    }
    if first(&fields, "model") != "whisper-1" {
        return Vendor::refuse(400, "The model does not support translation");
    }
    let mut answer = json!({ "text": "Good morning." });
    if first(&fields, "response_format") == "verbose_json" {
        answer["task"] = json!("translate");
        answer["language"] = json!("english");
        answer["duration"] = json!(1.0);
        answer["segments"] = json!([{ "id": 0, "seek": 0, "start": 0.0, "end": 0.5,
            "text": "Good morning.", "tokens": [1], "temperature": 0.0, "avg_logprob": -0.1,
            "compression_ratio": 1.0, "no_speech_prob": 0.01 }]);
    }
    Json(answer).into_response()
}

/// Returns the events of a transcript, which are `TranscriptTextDeltaEvent` and `TranscriptTextDoneEvent` in `OpenAI`'s
/// OpenAPI document. The stream of the text `break` breaks off.
fn events(text: &str) -> Response {
    let deltas = text.split_inclusive(' ');
    let deltas = deltas
        .map(|delta| json!({ "type": "transcript.text.delta", "delta": delta, "logprobs": [] }));
    let usage = json!({ "type": "tokens", "input_tokens": 14, "output_tokens": 5, "total_tokens": 19,
        "input_token_details": { "text_tokens": 0, "audio_tokens": 14 } });
    let done = json!({ "type": "transcript.text.done", "text": text, "usage": usage });
    let end = (text != "break").then_some(done);
    let events = deltas.chain(end).map(|event| format!("data: {event}\n\n"));
    let head = [("content-type", "text/event-stream; charset=utf-8")];
    (head, events.collect::<String>()).into_response()
}

async fn listen(State(vendor): State<Vendor>, headers: HeaderMap, form: Multipart) -> Response {
    if !is_known(&headers) {
        return Vendor::refuse(401, "Incorrect API key provided");
    }
    let (fields, size) = received(&vendor, form).await;
    let one = |name: &str| first(&fields, name);
    if size == 0 {
        return Vendor::refuse(400, "file is required");
    }
    if !matches!(
        one("model"),
        "whisper-1" | "gpt-4o-transcribe" | "gpt-4o-mini-transcribe"
    ) {
        return Vendor::refuse(404, "The model does not exist");
    }
    let mut held = vendor.held.subscribe();
    held.wait_for(|is_held| !is_held).await.unwrap();
    let text = vendor.transcript.lock().unwrap().clone();
    if text == "refuse" {
        return Vendor::refuse(400, "Audio file might be corrupted or unsupported");
    }
    if one("stream") == "true" {
        return match one("model") {
            "whisper-1" => Vendor::refuse(400, "the gateway knows that it is ignored"),
            _ => events(&text),
        };
    }
    let mut answer = json!({ "text": text });
    if one("response_format") == "verbose_json" {
        answer["task"] = json!("transcribe");
        answer["language"] = json!("english");
        answer["duration"] = json!(1.0);
        let words = text.split(' ').enumerate();
        let word = |(n, word): (usize, &str)| {
            let start = f64::from(u32::try_from(n).unwrap()) * 0.25;
            json!({ "word": word.trim_end_matches('.'), "start": start, "end": start + 0.25 })
        };
        answer["words"] = words.map(word).collect();
        answer["segments"] = json!([{ "id": 0, "seek": 0, "start": 0.0, "end": 0.5, "text": text,
            "tokens": [1, 2], "temperature": 0.0, "avg_logprob": -0.1, "compression_ratio": 1.0,
            "no_speech_prob": 0.01 }]);
    }
    Json(answer).into_response()
}
