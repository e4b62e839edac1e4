//! Paths compatible with `OpenAI`'s API (<https://platform.openai.com/docs/api-reference>) for agents and language
//! models. `OpenAI`'s clients can use this server through them. A model is `agent/<id>` or `provider/model`. The paths
//! for audio are in `voice`.

pub(in crate::routes) mod chat;
mod message;
pub(in crate::routes) mod models;
pub(in crate::routes) mod responses;
mod target;

use crate::app::App;
use crate::arrival::Arrival;
use crate::respond::{OpenAiFormat, Refusal};
use axum::extract::Request;
use axum::handler::Handler;
use axum::middleware::map_response;
use axum::response::Response;
use gatehouse_auth::AuthIdentity;
use gatehouse_domain::{Actor, Problem};

/// Gives the errors of a handler the format of `OpenAI`'s API. Refusals before the handler keep the usual format.
pub(in crate::routes) fn formatted<H, T>(handler: H) -> impl Handler<T, App>
where
    H: Handler<T, App>,
    T: 'static,
{
    handler.layer(map_response(async |mut response: Response| {
        if response.extensions().get::<Refusal>().is_some() {
            response.extensions_mut().insert(OpenAiFormat);
        }
        response
    }))
}

/// The caller of a request, and the ID and time of the response.
struct Origin {
    actor: Actor,
    /// The request ID.
    id: String,
    /// Unix time in seconds.
    created: i64,
}

impl Origin {
    fn of(app: &App, request: &Request) -> Result<Self, Problem> {
        // The gate inserts the arrival. A handler must not run without it.
        let arrival: Option<&Arrival> = request.extensions().get();
        let arrival = arrival.ok_or_else(Problem::internal)?;
        Ok(Self {
            actor: arrival.context.actor(),
            id: arrival.id.as_str().to_owned(),
            created: app.services().clock.now().as_millis() / 1000,
        })
    }
}

/// Returns whether the caller may use language models and agents through these paths.
fn may_chat(identity: Option<&AuthIdentity>) -> bool {
    let paths = ["/v1/chat/completions", "/v1/responses"];
    identity.is_some_and(|identity| paths.iter().any(|path| identity.may_call(path)))
}
