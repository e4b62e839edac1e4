//! `POST /v1/audio/speech` (<https://platform.openai.com/docs/api-reference/audio/createSpeech>).

use super::super::{renamed, speech};
use super::{names, speech_events};
use crate::app::App;
use crate::body::read_large_json;
use crate::respond::Refusal;
use crate::while_live::Credential;
use axum::extract::{Request, State};
use axum::response::Response;
use gatehouse_domain::Problem;
use gatehouse_services::to_problem;
use gatehouse_voice::{ProviderId, SpeechRequest, TtsId, Voice, VoiceError};
use schemars::JsonSchema;
use serde::Deserialize;

/// Field names in Gatehouse and in `OpenAI`'s API.
const NAMES: [(&str, &str); 4] = [
    ("text", "input"),
    ("voiceId", "voice"),
    ("format", "response_format"),
    ("provider", "model"),
];

/// The request body of `OpenAI`'s API. Unknown members are ignored.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::routes) struct SpeechBody {
    /// One of `OpenAI`'s models, which stands for the configured provider; a provider's ID or alias; or
    /// both, as `provider/model`.
    model: Option<String>,
    /// The text to speak.
    input: String,
    /// One of `OpenAI`'s voices, which other providers ignore, or a voice of the provider.
    voice: Option<VoiceName>,
    /// mp3, opus, aac, flac, wav or pcm; mp3 by default.
    response_format: Option<String>,
    /// The speaking speed, 0.25 to 4.
    speed: Option<f64>,
    /// Instructions on how to speak.
    instructions: Option<String>,
    /// `audio`, the default, for the audio itself, or `sse` for server-sent events.
    stream_format: Option<String>,
}

/// A voice by name, or a custom voice by ID.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum VoiceName {
    Name(String),
    Custom { id: String },
}

pub(in crate::routes) async fn post(
    State(app): State<App>,
    request: Request,
) -> Result<Response, Refusal> {
    let credential = Credential::of(&app, &request)?;
    let body: SpeechBody = read_large_json(&app, request).await?;
    let has_events = match body.stream_format.as_deref() {
        None | Some("" | "audio") => false,
        Some("sse") => true,
        Some(_) => {
            let reason = "expected audio or sse";
            return Err(Problem::invalid_params("stream_format", reason).into());
        }
    };
    let voice = &app.services().voice;
    let request = read(voice, body).await?;
    let streamed = voice.stream(request).await;
    let streamed = streamed.map_err(|error| renamed(error, &NAMES))?;
    let respond = if has_events {
        speech_events::respond
    } else {
        speech::respond
    };
    Ok(respond(streamed, credential)?)
}

async fn read(voice: &Voice, body: SpeechBody) -> Result<SpeechRequest, Problem> {
    let format = body.response_format.filter(|format| !format.is_empty());
    let named = names::speaker(body.model.as_deref());
    let speaker = match named.provider {
        Some(id) => Some(id),
        None => first_speaker(voice).await.map_err(to_problem)?,
    };
    let is_openai = speaker == Some(TtsId::OpenAi);
    let whose = body.voice.map(|voice| match voice {
        VoiceName::Name(name) | VoiceName::Custom { id: name } => name,
    });
    Ok(SpeechRequest {
        provider: named.provider.map(|id| id.as_str().to_owned()),
        model: named.model.filter(|_| is_openai || !named.is_openai),
        voice: whose
            .filter(|name| !name.is_empty() && (is_openai || !names::is_openai_voice(name))),
        format,
        speed: body.speed,
        instructions: body.instructions.filter(|words| !words.is_empty()),
        ..SpeechRequest::new(body.input)
    })
}

/// Returns the default provider: the active persona's, or the configured one.
async fn first_speaker(voice: &Voice) -> Result<Option<TtsId>, VoiceError> {
    let persona = voice.personas().active().await?;
    match persona.and_then(|persona| persona.provider) {
        Some(id) => Ok(Some(id)),
        None => Ok(TtsId::find(&voice.tts_status().await.provider)),
    }
}
