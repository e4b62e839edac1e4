//! `POST /api/rpc`: the WebSocket messages over HTTP.

use crate::app::App;
use crate::arrival::Arrival;
use crate::body::{self, Requester};
use crate::respond::Refusal;
use crate::while_live::Credential;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};

pub(super) async fn call(
    State(app): State<App>,
    requester: Requester,
    request: Request,
) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    let bytes = body::read_json_bytes(&app, &parts, body, app.max_message_bytes()).await?;
    let mut response = Response::new(Body::empty());
    let id = parts
        .extensions
        .get::<Arrival>()
        .map(|arrival| arrival.id.clone());
    let work = app.rpc().call_text(&requester.context, &bytes, id);
    // The params have been read and are charged separately.
    drop(bytes);
    let credential = Credential::of_context(&app, &requester.context)?;
    let began_ms = app.services().clock.monotonic_ms();
    let answer = work.await;
    // A call may take minutes. If the credential has ended, the result is not sent.
    credential.confirm_if_long(began_ms).await?;
    match answer {
        Some(answer) => *response.body_mut() = Body::from(Bytes::from_owner(answer)),
        // The message contained only notifications.
        None => *response.status_mut() = StatusCode::NO_CONTENT,
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
