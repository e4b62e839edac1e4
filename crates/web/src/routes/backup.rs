//! `POST /api/backup/stream`: a backup as the body of the response. The credential is checked for each piece.

use crate::app::App;
use crate::body::{JsonBody, Requester};
use crate::respond::Refusal;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use futures_util::StreamExt;
use gatehouse_auth::Decision;
use gatehouse_domain::Problem;
use gatehouse_rpc::methods::backup::StreamParams;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use std::io;

pub(super) async fn stream(
    State(app): State<App>,
    requester: Requester,
    JsonBody(params): JsonBody<StreamParams>,
) -> Result<Response, Refusal> {
    let Decision::Allowed(identity) = requester.context.decision.clone() else {
        return Err(Problem::internal().into());
    };
    let recipient = params.recipient()?;
    let actor = requester.context.actor();
    let backup = app.services().stream_backup(&actor, recipient).await?;
    let pieces = backup.pieces.map(move |piece| {
        if app.auth().is_live(&identity) {
            piece
        } else {
            Err(io::Error::other("the credential has ended"))
        }
    });
    let disposition = format!("attachment; filename=\"{}\"", backup.name);
    let disposition = HeaderValue::from_str(&disposition).map_err(|_| Problem::internal())?;
    let mut response = Response::new(Body::from_stream(pieces));
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("application/octet-stream"),
    );
    headers.insert(CONTENT_DISPOSITION, disposition);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
