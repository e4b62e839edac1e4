//! `GET /v1/models` (<https://platform.openai.com/docs/api-reference/models>): lists the agents, the language models,
//! the voice providers by ID, and `OpenAI`'s names of voice models. These names stand for the configured provider.

use super::{may_chat, target};
use crate::app::App;
use crate::body::Requester;
use crate::respond::{Refusal, json};
#[cfg(feature = "voice")]
use crate::routes::voice::openai::names;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use gatehouse_domain::Problem;
use gatehouse_services::{Services, to_problem};
#[cfg(feature = "voice")]
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
    /// The creation time in Unix seconds; 0 if it is unknown.
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

pub(in crate::routes) async fn list(
    State(app): State<App>,
    requester: Requester,
) -> Result<Response, Refusal> {
    let data = models(&app, &requester).await?;
    Ok(json(&ModelList {
        object: "list",
        data,
    }))
}

pub(in crate::routes) async fn get(
    State(app): State<App>,
    requester: Requester,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    let Path(asked) = id.map_err(|_| target::unknown_model())?;
    let mut models = models(&app, &requester).await?.into_iter();
    let found = models.find(|model| is_named(&model.id, &asked));
    Ok(json(&found.ok_or_else(target::unknown_model)?))
}

#[cfg(feature = "voice")]
fn is_named(id: &str, asked: &str) -> bool {
    // A vendor's name is also accepted as an ID.
    id == asked
        || TtsId::find(asked).is_some_and(|found| found.as_str() == id)
        || SttId::find(asked).is_some_and(|found| found.as_str() == id)
}

#[cfg(not(feature = "voice"))]
fn is_named(id: &str, asked: &str) -> bool {
    id == asked
}

/// Returns the models that the caller can use.
async fn models(app: &App, requester: &Requester) -> Result<Vec<Model>, Problem> {
    let services = app.services();
    let mut all = Vec::new();
    if may_chat(requester.context.decision.identity()) {
        all.extend(language_models(services).await?);
    }
    #[cfg(feature = "voice")]
    all.extend(voice_models(&services.voice).await);
    Ok(all)
}

async fn language_models(services: &Services) -> Result<Vec<Model>, Problem> {
    let agents = services.agents.list_agents().await.map_err(to_problem)?;
    let mut all: Vec<Model> = agents
        .iter()
        .map(|agent| Model {
            created: agent.created_at.as_millis() / 1000,
            ..model(&format!("{}/{}", target::AGENT, agent.id), "gatehouse")
        })
        .collect();
    let models = services.models.list().await;
    all.extend(models.iter().map(|info| model(&info.id, &info.provider)));
    Ok(all)
}

/// Returns the usable voice models, including providers that lists do not show.
#[cfg(feature = "voice")]
async fn voice_models(voice: &Voice) -> Vec<Model> {
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
