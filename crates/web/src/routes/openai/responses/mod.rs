//! `POST /v1/responses` (<https://platform.openai.com/docs/api-reference/responses>): text and the caller's tools.
//! Responses are not kept, so each request contains the whole conversation.

mod body;
mod response;
mod stream;

pub(in crate::routes) use body::ResponseBody;
pub(in crate::routes) use response::ResponseObject;

use super::{Origin, target};
use crate::app::App;
use crate::body::read_large_json;
use crate::respond::{Refusal, json};
use crate::while_live::Credential;
use axum::extract::{Request, State};
use axum::response::Response;
use response::Head;

pub(in crate::routes) async fn post(
    State(app): State<App>,
    request: Request,
) -> Result<Response, Refusal> {
    let origin = Origin::of(&app, &request)?;
    let credential = Credential::of(&app, &request)?;
    let body: ResponseBody = read_large_json(&app, request).await?;
    let is_streamed = body.is_streamed();
    let head = Head::of(&origin, &body);
    let request = body.read()?;
    let answer = target::answer(&app, &head.model, request, origin.actor).await?;
    if is_streamed {
        let answer = target::streamed(answer, credential).await?;
        return Ok(stream::respond(head, answer));
    }
    let answer = target::whole(answer, &credential);
    let response = ResponseObject::collect(head, answer).await?;
    credential.confirm().await?;
    Ok(json(&response))
}
