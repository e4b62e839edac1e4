//! `POST /v1/audio/translations`
//! (<https://platform.openai.com/docs/api-reference/audio/createTranslation>).

use super::super::renamed;
use super::recognition::{self, NAMES, RequestedResponse};
use crate::app::App;
use crate::respond::Refusal;
use crate::while_live::Credential;
use axum::extract::{Request, State};
use axum::response::Response;
use gatehouse_voice::TranscribeRequest;
use schemars::JsonSchema;

/// The form. Unknown fields are ignored.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(in crate::routes) struct TranslationForm {
    /// The recording, at most 25 MiB.
    #[schemars(extend("format" = "binary"))]
    file: String,
    /// `whisper-1`, which stands for the configured provider; a provider's ID or alias; or both, as
    /// `provider/model`.
    model: Option<String>,
    /// The language of the recording, as an ISO 639-1 code, for local programs.
    language: Option<String>,
    /// Context for the recognition, in English.
    prompt: Option<String>,
    /// json, text, srt, `verbose_json` or vtt; json by default.
    response_format: Option<String>,
    /// 0 to 1; ignored.
    temperature: Option<f64>,
}

pub(in crate::routes) async fn post(
    State(app): State<App>,
    request: Request,
) -> Result<Response, Refusal> {
    let credential = Credential::of(&app, &request)?;
    let mut received = recognition::receive(&app, request).await?;
    let wanted = RequestedResponse {
        task: "translate",
        format: recognition::read_format(&mut received.fields)?,
        has_words: false,
        has_segments: true,
    };
    let request = TranscribeRequest {
        timestamps: wanted.has_times(),
        translate: true,
        ..received.request
    };
    let heard = app.services().voice.transcribe(request).await;
    let transcript = heard.map_err(|error| renamed(error, &NAMES))?;
    credential.confirm().await?;
    Ok(recognition::respond(&wanted, transcript))
}
