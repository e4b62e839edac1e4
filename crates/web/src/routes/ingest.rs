//! `POST /api/webhooks/ingest/{public_id}`: passes a sender's request to `webhooks`, which decides about it. Reads the
//! body only after the webhook is found, and never more than the webhook's limit.

mod body;

use crate::app::App;
use crate::arrival::Arrival;
use crate::body::Requester;
use crate::respond::{Refusal, json};
use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery, Request, State};
use axum::response::{IntoResponse, Response};
use gatehouse_domain::{DeliveryId, Problem};
use gatehouse_rpc::memory_budget::Share;
use gatehouse_webhooks::{HandshakeReply, HubRequest, IngestError, Ingested, Intake};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::Serialize;

/// The retry delay for a sender whose body does not fit into memory, in milliseconds.
const ROOM_WAIT_MS: u64 = 1000;

/// The response to a delivery.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    /// `accepted`, `filtered` or `deduplicated`.
    status: &'static str,
    /// The delivery's ID. For a duplicate, the ID of the first delivery.
    delivery_id: DeliveryId,
}

pub(super) async fn ingest(
    State(app): State<App>,
    Path(public_id): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    // The gate inserts the arrival. A handler must not run without it.
    let arrival: &Arrival = parts.extensions.get().ok_or_else(Problem::internal)?;
    let context = &arrival.context;
    let webhooks = &app.services().webhooks;
    let from = context.vouched_actor();
    let intake = webhooks
        .begin_ingest(&public_id, &from, &parts.headers)
        .await
        .map_err(refusal)?;
    let body = read(&intake, &parts, body, app.share(context)).await?;
    let url = if intake.needs_url() {
        called(&app, context.https, &parts)
    } else {
        String::new()
    };
    let ingested = intake.accept(&parts.headers, &url, &body).await;
    Ok(answer(ingested.map_err(refusal)?))
}

/// Answers the request with which a hub verifies the URL.
pub(super) async fn hub(
    State(app): State<App>,
    requester: Requester,
    Path(public_id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let asked = HubRequest::parse(&query.unwrap_or_default());
    let webhooks = &app.services().webhooks;
    let from = requester.context.vouched_actor();
    let answered = webhooks
        .answer_hub(&public_id, &from, &headers, &asked)
        .await;
    if let Some(challenge) = answered.map_err(refusal)? {
        return Ok(plain(challenge));
    }
    // axum adds the header only if the route does not have the method.
    let refused = super::method_not_allowed().await;
    Ok(([(header::ALLOW, "POST")], refused).into_response())
}

fn plain(text: String) -> Response {
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// Logs an internal error, once.
fn refusal(error: IngestError) -> Refusal {
    if let IngestError::Store(_) | IngestError::Hold(_) | IngestError::Reload(_) = &error {
        let error: &dyn std::error::Error = &error;
        tracing::error!(error, "a webhook delivery was not accepted");
    }
    error.into()
}

/// Reads the body up to the webhook's limit.
async fn read(intake: &Intake, parts: &Parts, body: Body, share: Share) -> Result<Bytes, Refusal> {
    match body::read(body, intake.max_body_bytes(), share).await {
        Ok(read) => Ok(read),
        Err(body::Unread::TooLarge { size, kept }) => {
            Err(intake.too_large(&parts.headers, &kept, size).into())
        }
        Err(body::Unread::Refused(problem)) => {
            intake.incomplete();
            Err(problem.into())
        }
        Err(body::Unread::NoRoom) => Err(intake.no_room(ROOM_WAIT_MS).into()),
    }
}

/// Returns the URL that the sender called, because some senders sign it. Uses `server.external_url` if configured,
/// because the URL differs behind a proxy.
fn called(app: &App, is_https: bool, parts: &Parts) -> String {
    let path = parts.uri.path_and_query().map_or("/", PathAndQuery::as_str);
    let resolved = app.services().config.resolved();
    if let Some(base) = resolved.configured_external_url() {
        return format!("{}{path}", base.as_str().trim_end_matches('/'));
    }
    let scheme = if is_https { "https" } else { "http" };
    let named = parts.headers.get(header::HOST);
    let named = named.and_then(|host| host.to_str().ok());
    let host = named.or_else(|| parts.uri.authority().map(http::uri::Authority::as_str));
    format!("{scheme}://{}{path}", host.unwrap_or_default())
}

fn answer(ingested: Ingested) -> Response {
    let (status, word, delivery_id) = match ingested {
        Ingested::Handshake(HandshakeReply::Json(reply)) | Ingested::Answered(_, reply) => {
            return json(&reply);
        }
        Ingested::Handshake(HandshakeReply::Text(text)) => return plain(text),
        Ingested::Accepted(id) => (StatusCode::ACCEPTED, "accepted", id),
        Ingested::Filtered(id) => (StatusCode::OK, "filtered", id),
        Ingested::Deduplicated(id) => (StatusCode::OK, "deduplicated", id),
    };
    let mut response = json(&Answer {
        status: word,
        delivery_id,
    });
    *response.status_mut() = status;
    response
}
