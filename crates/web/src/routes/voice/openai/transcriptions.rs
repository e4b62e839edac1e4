//! `POST /v1/audio/transcriptions`
//! (<https://platform.openai.com/docs/api-reference/audio/createTranscription>).

use super::super::form::Fields;
use super::super::renamed;
use super::recognition::{self, NAMES, RequestedResponse};
use super::transcript_events;
use crate::app::App;
use crate::respond::Refusal;
use crate::while_live::Credential;
use axum::extract::{Request, State};
use axum::response::Response;
use gatehouse_domain::Problem;
use gatehouse_voice::TranscribeRequest;
use schemars::JsonSchema;

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
    /// One of `OpenAI`'s models, which stands for the configured provider; a provider's ID or alias; or
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
    /// Whether to send the text as server-sent events; ignored for `whisper-1`.
    stream: Option<bool>,
}

pub(in crate::routes) async fn post(
    State(app): State<App>,
    request: Request,
) -> Result<Response, Refusal> {
    let credential = Credential::of(&app, &request)?;
    let mut received = recognition::receive(&app, request).await?;
    let wanted = read_wanted(&mut received.fields)?;
    let streams = read_stream(&mut received.fields)? && !received.names_whisper;
    if streams && wanted.has_times() {
        let reason = "with stream, expected json or text";
        return Err(Problem::invalid_params("response_format", reason).into());
    }
    let request = TranscribeRequest {
        timestamps: wanted.has_times(),
        ..received.request
    };
    let voice = &app.services().voice;
    if streams {
        let pieces = voice.transcribe_stream(request).await;
        let pieces = pieces.map_err(|error| renamed(error, &NAMES))?;
        return Ok(transcript_events::respond(pieces, credential));
    }
    let heard = voice.transcribe(request).await;
    let transcript = heard.map_err(|error| renamed(error, &NAMES))?;
    credential.confirm().await?;
    Ok(recognition::respond(&wanted, transcript))
}

fn read_wanted(fields: &mut Fields) -> Result<RequestedResponse, Problem> {
    let format = recognition::read_format(fields)?;
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
    for name in OTHERS {
        fields.take_all(name);
    }
    let has = |name: &str| grains.iter().any(|grain| grain == name);
    Ok(RequestedResponse {
        task: "transcribe",
        has_words: has("word"),
        has_segments: has("segment") || grains.is_empty(),
        format,
    })
}

fn read_stream(fields: &mut Fields) -> Result<bool, Problem> {
    match fields.take("stream").as_deref() {
        None | Some("false" | "False" | "0") => Ok(false),
        Some("true" | "True" | "1") => Ok(true),
        Some(_) => Err(Problem::invalid_params("stream", "expected true or false")),
    }
}
