//! `POST /v1/chat/completions` (<https://platform.openai.com/docs/api-reference/chat>).

mod body;
mod completion;
mod stream;

pub(in crate::routes) use body::CompletionBody;
pub(in crate::routes) use completion::Completion;

use super::{Origin, target};
use crate::app::App;
use crate::body::read_large_json;
use crate::respond::{Refusal, json};
use crate::while_live::Credential;
use axum::extract::{Request, State};
use axum::response::Response;

/// The fields of every object of one response.
#[derive(Clone, Debug)]
struct Head {
    id: String,
    /// Unix time in seconds.
    created: i64,
    /// As in the request.
    model: String,
}

pub(in crate::routes) async fn post(
    State(app): State<App>,
    request: Request,
) -> Result<Response, Refusal> {
    let origin = Origin::of(&app, &request)?;
    let credential = Credential::of(&app, &request)?;
    let body: CompletionBody = read_large_json(&app, request).await?;
    let (model, shown) = (body.model.clone(), body.shown());
    let request = body.read()?;
    let head = Head {
        id: format!("chatcmpl-{}", origin.id),
        created: origin.created,
        model: model.clone(),
    };
    let answer = target::answer(&app, &model, request, origin.actor).await?;
    match shown {
        body::Shown::Whole => {
            let answer = target::whole(answer, &credential);
            let completion = Completion::collect(head, answer).await?;
            credential.confirm().await?;
            Ok(json(&completion))
        }
        body::Shown::Stream { with_usage } => Ok(stream::respond(
            head,
            target::streamed(answer, credential).await?,
            with_usage,
        )),
    }
}
