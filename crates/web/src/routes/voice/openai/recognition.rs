//! The common parts of transcriptions and translations: the form, and the formats of the response.

use super::super::form::{self, Fields};
use super::names;
use crate::app::App;
use crate::body;
use crate::respond::{Refusal, json};
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use gatehouse_domain::Problem;
use gatehouse_voice::{ProviderId, SttId, SubtitleFormat, TranscribeRequest, Transcript};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json as value};

/// Field names in Gatehouse and in `OpenAI`'s API.
pub(super) const NAMES: [(&str, &str); 3] =
    [("audio", "file"), ("format", "file"), ("provider", "model")];
const FORMATS: [&str; 5] = ["json", "text", "srt", "verbose_json", "vtt"];

/// The JSON response. The other formats are plain text.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::routes) struct Transcription {
    /// The recognized text, or its translation.
    text: String,
}

/// A form that has been partly read.
pub(super) struct Received {
    /// The fields that have not been read.
    pub(super) fields: Fields,
    pub(super) request: TranscribeRequest,
    /// Whether `model` is `OpenAI`'s Whisper.
    pub(super) names_whisper: bool,
}

/// Reads the form and the fields that both kinds of request have.
pub(super) async fn receive(app: &App, request: Request) -> Result<Received, Refusal> {
    let (parts, body) = request.into_parts();
    let share = body::share(app, &parts)?;
    let upload = form::read_form(&parts, body, share, &["file"]).await?;
    let mut fields = upload.fields;
    let named = names::listener(fields.take("model").as_deref());
    let listener = match named.provider {
        Some(id) => Some(id),
        None => SttId::find(&app.services().voice.stt_status().await.provider),
    };
    let is_openai = listener == Some(SttId::OpenAi);
    let names_whisper = named.model.as_deref() == Some("whisper-1");
    check_temperature(&mut fields)?;
    let request = TranscribeRequest {
        format: upload.format.map(str::to_owned),
        language: fields.take("language"),
        prompt: fields.take("prompt"),
        provider: named.provider.map(|id| id.as_str().to_owned()),
        model: named.model.filter(|_| is_openai || !named.is_openai),
        ..TranscribeRequest::new(upload.audio)
    };
    Ok(Received {
        fields,
        request,
        names_whisper,
    })
}

/// Checks the temperature and drops it, because no provider supports it.
fn check_temperature(fields: &mut Fields) -> Result<(), Problem> {
    let Some(temperature) = fields.take("temperature") else {
        return Ok(());
    };
    let number = temperature.parse::<f64>().ok();
    if number.is_some_and(|number| (0.0..=1.0).contains(&number)) {
        return Ok(());
    }
    let reason = "expected a number from 0 to 1";
    Err(Problem::invalid_params("temperature", reason))
}

/// The requested response.
pub(super) struct RequestedResponse {
    /// `transcribe` or `translate`.
    pub(super) task: &'static str,
    pub(super) format: String,
    pub(super) has_words: bool,
    pub(super) has_segments: bool,
}

pub(super) fn read_format(fields: &mut Fields) -> Result<String, Problem> {
    let format = fields.take("response_format");
    let format = format.unwrap_or_else(|| "json".to_owned());
    if FORMATS.contains(&format.as_str()) {
        return Ok(format);
    }
    let reason = format!("expected one of {}", FORMATS.join(", "));
    Err(Problem::invalid_params("response_format", reason))
}

impl RequestedResponse {
    /// Returns whether the response has times.
    pub(super) fn has_times(&self) -> bool {
        !matches!(self.format.as_str(), "json" | "text")
    }
}

pub(super) fn respond(wanted: &RequestedResponse, transcript: Transcript) -> Response {
    match wanted.format.as_str() {
        "text" => text(
            format!("{}\n", transcript.text),
            "text/plain; charset=utf-8",
        ),
        "srt" => text(
            transcript.subtitles(SubtitleFormat::Srt),
            "application/x-subrip; charset=utf-8",
        ),
        "vtt" => text(
            transcript.subtitles(SubtitleFormat::Vtt),
            "text/vtt; charset=utf-8",
        ),
        "verbose_json" => json(&verbose(wanted, &transcript)),
        _ => json(&Transcription {
            text: transcript.text,
        }),
    }
}

fn text(body: String, media_type: &'static str) -> Response {
    let mut response = Response::new(Body::from(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Builds the verbose response. Decoder details that only some providers report are 0, because clients expect the
/// members.
fn verbose(wanted: &RequestedResponse, transcript: &Transcript) -> Value {
    let mut answer = Map::new();
    let mut add = |name: &str, value: Value| answer.insert(name.to_owned(), value);
    add("task", wanted.task.into());
    // OpenAI's documentation says that a translation always contains this word.
    let language = if wanted.task == "translate" {
        "english"
    } else {
        transcript.language_name()
    };
    add("language", language.into());
    add("duration", transcript.duration_seconds.into());
    add("text", transcript.text.as_str().into());
    if wanted.has_words {
        add("words", value!(transcript.words));
    }
    if wanted.has_segments {
        let segments = (0..).zip(&transcript.segments).map(|(id, segment)| {
            value!({
                "id": id, "seek": 0, "start": segment.start, "end": segment.end,
                "text": segment.text, "tokens": [], "temperature": 0.0, "avg_logprob": 0.0,
                "compression_ratio": 0.0, "no_speech_prob": 0.0,
            })
        });
        add("segments", segments.collect());
    }
    answer.into()
}
