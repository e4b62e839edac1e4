//! `POST /v1/audio/transcriptions`
//! (<https://platform.openai.com/docs/api-reference/audio/createTranscription>).

use super::super::form::{self, Fields};
use super::super::renamed;
use super::names;
use crate::app::App;
use crate::body;
use crate::respond::{Refusal, json};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use gatehouse_domain::Problem;
use gatehouse_voice::{ProviderId, SttId, SubtitleFormat, TranscribeRequest, Transcript, Voice};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json as value};

/// Field names in Gatehouse and in `OpenAI`'s API.
const NAMES: [(&str, &str); 3] = [("audio", "file"), ("format", "file"), ("provider", "model")];
const FORMATS: [&str; 5] = ["json", "text", "srt", "verbose_json", "vtt"];
/// Fields that only `OpenAI`'s models support. They are ignored.
const OTHERS: [&str; 4] = [
    "include[]",
    "chunking_strategy",
    "known_speaker_names[]",
    "known_speaker_references[]",
];

/// The form. Unknown fields are ignored.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(in crate::routes) struct TranscriptionForm {
    /// The recording, at most 25 MiB.
    #[schemars(extend("format" = "binary"))]
    file: String,
    /// One of `OpenAI`'s models, which stands for the configured provider; a provider's id or alias; or
    /// both, as `provider/model`.
    model: Option<String>,
    /// The language, as an ISO 639-1 code.
    language: Option<String>,
    /// Context for the recognition.
    prompt: Option<String>,
    /// json, text, srt, `verbose_json` or vtt; json by default.
    response_format: Option<String>,
    /// 0 to 1; ignored.
    temperature: Option<f64>,
    /// word or segment, with `verbose_json`; segment by default.
    #[schemars(rename = "timestamp_granularities[]")]
    timestamp_granularities: Option<Vec<String>>,
    /// Only `false` is supported.
    stream: Option<bool>,
}

/// The JSON response. The other formats are plain text.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::routes) struct Transcription {
    /// The recognized text.
    text: String,
}

/// The requested response format.
struct Wanted {
    format: String,
    has_words: bool,
    has_segments: bool,
}

pub(in crate::routes) async fn post(
    State(app): State<App>,
    request: Request,
) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    let share = body::share(&app, &parts)?;
    let upload = form::read_form(&parts, body, share, &["file"]).await?;
    let mut fields = upload.fields;
    let wanted = read_wanted(&mut fields)?;
    let named = names::listener(fields.take("model").as_deref());
    let voice = &app.services().voice;
    let listener = match named.provider {
        Some(id) => Some(id),
        None => first_listener(voice).await,
    };
    let is_openai = listener == Some(SttId::OpenAi);
    let request = TranscribeRequest {
        format: upload.format.map(str::to_owned),
        language: fields.take("language"),
        prompt: fields.take("prompt"),
        provider: named.provider.map(|id| id.as_str().to_owned()),
        model: named.model.filter(|_| is_openai || !named.is_openai),
        timestamps: !matches!(wanted.format.as_str(), "json" | "text"),
        ..TranscribeRequest::new(upload.audio)
    };
    let heard = voice.transcribe(request).await;
    let transcript = heard.map_err(|error| renamed(error, &NAMES))?;
    Ok(respond(&wanted, transcript))
}

async fn first_listener(voice: &Voice) -> Option<SttId> {
    SttId::find(&voice.stt_status().await.provider)
}

fn read_wanted(fields: &mut Fields) -> Result<Wanted, Problem> {
    let format = fields.take("response_format");
    let format = format.unwrap_or_else(|| "json".to_owned());
    if !FORMATS.contains(&format.as_str()) {
        let reason = format!("expected one of {}", FORMATS.join(", "));
        return Err(Problem::invalid_params("response_format", reason));
    }
    let mut grains = Vec::new();
    for name in ["timestamp_granularities[]", "timestamp_granularities"] {
        grains.extend(fields.take_all(name));
    }
    if let Some(grain) = grains
        .iter()
        .find(|grain| !matches!(grain.as_str(), "word" | "segment"))
    {
        let reason = format!(
            "expected word or segment, not {} characters",
            grain.chars().count()
        );
        return Err(Problem::invalid_params("timestamp_granularities", reason));
    }
    if !grains.is_empty() && format != "verbose_json" {
        let reason = "requires the response_format verbose_json";
        return Err(Problem::invalid_params("timestamp_granularities", reason));
    }
    if fields
        .take("stream")
        .is_some_and(|stream| !matches!(stream.as_str(), "false" | "False" | "0"))
    {
        let reason = "streaming is not supported";
        return Err(Problem::invalid_params("stream", reason));
    }
    if let Some(temperature) = fields.take("temperature") {
        let number = temperature.parse::<f64>().ok();
        if !number.is_some_and(|number| (0.0..=1.0).contains(&number)) {
            let reason = "expected a number from 0 to 1";
            return Err(Problem::invalid_params("temperature", reason));
        }
    }
    for name in OTHERS {
        fields.take_all(name);
    }
    let has = |name: &str| grains.iter().any(|grain| grain == name);
    Ok(Wanted {
        has_words: has("word"),
        has_segments: has("segment") || grains.is_empty(),
        format,
    })
}

fn respond(wanted: &Wanted, transcript: Transcript) -> Response {
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

/// Builds the verbose response. Decoder details that only some providers know are 0, because clients expect
/// the members.
fn verbose(wanted: &Wanted, transcript: &Transcript) -> Value {
    let mut answer = Map::new();
    let mut add = |name: &str, value: Value| answer.insert(name.to_owned(), value);
    add("task", "transcribe".into());
    add("language", transcript.language.as_str().into());
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
