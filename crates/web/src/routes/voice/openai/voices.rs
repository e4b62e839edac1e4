//! `GET /v1/audio/voices`: the values for `voice` in `/v1/audio/speech`. `OpenAI` has no such list. The response has
//! the format of Kokoro-FastAPI (`list_voices` in `api/src/routers/openai_compatible.py`), which Open `WebUI` reads
//! (`get_available_voices` in `backend/open_webui/routers/audio.py`).

use super::names;
use crate::app::App;
use crate::respond::{Refusal, json};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use gatehouse_domain::Problem;
use gatehouse_services::to_problem;
use gatehouse_voice::OfferedVoice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The query. Unknown parameters are ignored.
#[derive(Debug, Deserialize)]
pub(in crate::routes) struct VoicesQuery {
    /// As in `/v1/audio/speech`.
    model: Option<String>,
}

/// The list of voices.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::routes) struct VoiceList {
    /// Empty if the provider has no voices to choose from.
    voices: Vec<OfferedVoice>,
}

pub(in crate::routes) async fn get(
    State(app): State<App>,
    query: Result<Query<VoicesQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(query) = query.map_err(|_| Problem::invalid_params("model", "expected one value"))?;
    let named = names::speaker(query.model.as_deref());
    let voices = app.services().voice.voices(named.provider).await;
    Ok(json(&VoiceList {
        voices: voices.map_err(to_problem)?,
    }))
}
