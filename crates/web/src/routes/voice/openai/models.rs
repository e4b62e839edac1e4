//! `GET /v1/models` (<https://platform.openai.com/docs/api-reference/models>): lists the voice providers by
//! id, and `OpenAI`'s model names, which stand for the configured provider.

use super::names;
use crate::app::App;
use crate::respond::{Refusal, json};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use gatehouse_domain::Problem;
use gatehouse_voice::{ProviderId, SttId, TtsId, Voice};
use schemars::JsonSchema;
use serde::Serialize;

/// The list of models.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::routes) struct ModelList {
    /// `list`
    object: &'static str,
    /// The models.
    data: Vec<Model>,
}

/// A model.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::routes) struct Model {
    /// The value for `model` in requests.
    id: String,
    /// `model`
    object: &'static str,
    /// The creation time in Unix seconds; always 0, because it is unknown.
    created: i64,
    /// The owner of the model.
    owned_by: String,
}

fn model(id: &str, owned_by: &str) -> Model {
    Model {
        id: id.to_owned(),
        object: "model",
        created: 0,
        owned_by: owned_by.to_owned(),
    }
}

pub(in crate::routes) async fn list(State(app): State<App>) -> Response {
    let data = models(&app.services().voice).await;
    json(&ModelList {
        object: "list",
        data,
    })
}

pub(in crate::routes) async fn get(
    State(app): State<App>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    let missing = || Problem::not_found("model");
    let Path(asked) = id.map_err(|_| missing())?;
    // A vendor's name is also accepted as an id.
    let known = |id: &str| {
        id == asked
            || TtsId::find(&asked).is_some_and(|found| found.as_str() == id)
            || SttId::find(&asked).is_some_and(|found| found.as_str() == id)
    };
    let mut models = models(&app.services().voice).await.into_iter();
    let found = models.find(|model| known(&model.id)).ok_or_else(missing)?;
    Ok(json(&found))
}

/// The usable models, including providers that lists do not show.
async fn models(voice: &Voice) -> Vec<Model> {
    let (tts, stt) = (
        voice.tts_providers(true).await,
        voice.stt_providers(true).await,
    );
    let mut all = Vec::new();
    for (providers, known) in [(tts, names::SPEAKERS), (stt, names::LISTENERS)] {
        let there: Vec<_> = providers.into_iter().filter(|one| one.configured).collect();
        if !there.is_empty() {
            all.extend(known.iter().map(|name| model(name, "gatehouse")));
        }
        all.extend(there.iter().map(|one| model(one.id, one.name)));
    }
    all
}
