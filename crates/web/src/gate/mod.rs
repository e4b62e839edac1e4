//! The gate that every request passes. The steps, in order: request ID, head size, path check,
//! authentication (`check_auth()`, once), cross-site check, throttle, refusal, vault guard; then the route
//! with its scope check. Every response gets its headers, its metrics and one log line.

pub(crate) mod class;
mod early_response;
mod head;
mod headers;
mod path;
pub(crate) mod public;
mod rest;
mod vault_guard;

pub use class::{PathClass, path_class};
use early_response::EarlyResponse;
pub use head::MAX_HEAD_BYTES;
pub(crate) use headers::REQUEST_ID;
use public::is_hub_check;
pub use public::is_public;
pub use vault_guard::is_guarded;

use crate::app::App;
use crate::arrival::{Arrival, Peer};
use crate::connection_slots::ConnectionSlot;
use crate::observe::{self, RequestRecord};
use crate::respond::{self, write_refusal};
use crate::routes::health;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use gatehouse_auth::{AuthError, Decision, RequestContext, RequestFacts, Subject};
use gatehouse_domain::{Problem, RequestId};
use http::header::{CONNECTION, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, StatusCode, Version};
use rest::Rest;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tower::ServiceExt;

/// Passes a request through the gate and, if permitted, to its route.
pub(crate) async fn enter(
    app: &App,
    peer: Peer,
    slot: ConnectionSlot,
    request: Request,
) -> Response {
    let id = app.new_request_id();
    let (mut parts, body) = request.into_parts();
    let (body, rest) = Rest::watch(&parts, body);
    let mut record = RequestRecord::begin(&parts.method, peer);
    if let Some(mut refused) = head::too_large(&parts) {
        // The connection is closed, because the data after an oversized head is useless.
        if parts.version < Version::HTTP_2 {
            let close = HeaderValue::from_static("close");
            refused.headers_mut().insert(CONNECTION, close);
        }
        return leave(app, refused, &id, &record);
    }
    let mut answer = match admit(app, peer, &parts, &mut record).await {
        Ok(context) => {
            keep_place(&slot, &context);
            let matched_route = Arc::clone(&record.route);
            parts.extensions.insert(Arrival {
                id: id.clone(),
                context,
                route: matched_route,
                slot,
            });
            route(app, Request::from_parts(parts, body)).await
        }
        Err(turned) => {
            drop(body);
            let mut answer = turned.into_response(app);
            challenge(&parts, &mut answer);
            answer
        }
    };
    // After a 408, the server does not wait for more data.
    let gave_up = answer.status() == StatusCode::REQUEST_TIMEOUT;
    if !gave_up && !rest.drain().await {
        let close = HeaderValue::from_static("close");
        answer.headers_mut().insert(CONNECTION, close);
    }
    leave(app, answer, &id, &record)
}

/// Exempts an authenticated caller's connection from eviction. A remote caller who is only allowed because
/// auth is disabled may be anyone, so its connection is not exempt.
fn keep_place(slot: &ConnectionSlot, context: &RequestContext) {
    let is_known = match &context.decision {
        Decision::Allowed(identity) => !matches!(
            identity.subject,
            Subject::LoopbackDisabled { is_local: false }
        ),
        _ => false,
    };
    if is_known {
        slot.keep();
    }
}

/// MCP clients expect the authentication scheme in a 401 response (RFC 9110, section 15.5.2).
fn challenge(request: &Parts, answer: &mut Response) {
    if answer.status() == StatusCode::UNAUTHORIZED && request.uri.path() == "/mcp" {
        let bearer = HeaderValue::from_static("Bearer");
        answer.headers_mut().insert(WWW_AUTHENTICATE, bearer);
    }
}

/// Decides whether the request may proceed to its route.
async fn admit(
    app: &App,
    peer: Peer,
    request: &Parts,
    record: &mut RequestRecord,
) -> Result<RequestContext, EarlyResponse> {
    path::check(&request.uri)?;
    if let Some(metrics) = app.metrics()
        && let Some(response) = metrics.answer(request).await
    {
        return Err(EarlyResponse::Answered(response.into()));
    }
    let context = match recognise(app, peer, request).await {
        Ok(context) => context,
        // The reason may be the problem that the probe reports, such as an unavailable database.
        Err(problem) => {
            return Err(match health::probe(app, request).await {
                Some(response) => EarlyResponse::Answered(response.into()),
                None => problem.into(),
            });
        }
    };
    record.recognised(&context);
    throttle(app, &context).await?;
    refuse_unless_allowed(request, &context)?;
    vault_guard::check(app.secrets().status(), &request.method, request.uri.path())?;
    Ok(context)
}

async fn recognise(app: &App, peer: Peer, request: &Parts) -> Result<RequestContext, Problem> {
    let facts = RequestFacts {
        method: &request.method,
        uri: &request.uri,
        headers: &request.headers,
        peer: peer.address.ip(),
        over_tls: peer.over_tls,
    };
    let context = app.auth().recognise(&facts).await?;
    app.auth().cross_site(&facts, &context)?;
    Ok(context)
}

/// Counts only callers that were not authenticated.
async fn throttle(app: &App, context: &RequestContext) -> Result<(), Problem> {
    match (&context.decision, context.class) {
        (Decision::Allowed(_), _) | (_, None) => Ok(()),
        (_, Some(class)) => Ok(app.auth().admit(class, &context.client).await?),
    }
}

fn refuse_unless_allowed(request: &Parts, context: &RequestContext) -> Result<(), EarlyResponse> {
    let Err(refused) = context.identity() else {
        return Ok(());
    };
    let path = request.uri.path();
    if is_public(&request.method, path) || is_hub_check(&request.method, &request.uri) {
        return Ok(());
    }
    if path_class(path, context.is_upgrade) != PathClass::Page {
        return Err(Problem::from(refused).into());
    }
    let needs_setup = matches!(refused, AuthError::SetupRequired) && path != "/onboarding";
    Err(if needs_setup {
        EarlyResponse::ToOnboarding
    } else {
        EarlyResponse::ToLogin
    })
}

/// Contains a handler's panic, so only its own request fails.
async fn route(app: &App, request: Request) -> Response {
    let routed = AssertUnwindSafe(app.router().clone().oneshot(request)).catch_unwind();
    match routed.await {
        Ok(Ok(response)) => response,
        Ok(Err(never)) => match never {},
        Err(_panic) => {
            tracing::error!("a handler panicked");
            respond::Refusal(Problem::internal()).into_response()
        }
    }
}

fn leave(app: &App, mut response: Response, id: &RequestId, record: &RequestRecord) -> Response {
    write_refusal(&mut response, id.as_str());
    headers::add(&mut response, id, record.is_https());
    observe::record(app.meters(), &response, id, record);
    response
}
