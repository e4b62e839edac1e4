//! `POST /api/backup/stream`: a backup as the body of the response. The response ends when the
//! credential ends.

use crate::app::App;
use crate::body::{JsonBody, Requester};
use crate::respond::Refusal;
use crate::while_live::Credential;
use axum::extract::State;
use axum::response::Response;
use gatehouse_domain::Problem;
use gatehouse_rpc::methods::backup::StreamParams;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};

pub(super) async fn stream(
    State(app): State<App>,
    requester: Requester,
    JsonBody(params): JsonBody<StreamParams>,
) -> Result<Response, Refusal> {
    let credential = Credential::of_context(&app, &requester.context)?;
    let recipient = params.recipient()?;
    let actor = requester.context.actor();
    let backup = app.services().stream_backup(&actor, recipient).await?;
    let disposition = format!("attachment; filename=\"{}\"", backup.name);
    let disposition = HeaderValue::from_str(&disposition).map_err(|_| Problem::internal())?;
    let mut response = Response::new(credential.body(backup.pieces));
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("application/octet-stream"),
    );
    headers.insert(CONTENT_DISPOSITION, disposition);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
