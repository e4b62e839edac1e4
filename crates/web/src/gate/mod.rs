//! The gate: what every request passes, in this order: request id, path check, who is there
//! (`check_auth()`, once), cross-site check, throttle, refusal, vault guard; then the route with its
//! scope. On the way out every answer gets its headers, its metrics and its one line in the log.

mod class;
mod headers;
mod path;
mod public;
mod vault_guard;

pub use class::{PathClass, path_class};
pub use public::is_public;
pub use vault_guard::is_guarded;

use crate::app::App;
use crate::observe::{self, Trail};
use crate::respond::{Refusal, write_refusal};
use crate::{pages, respond};
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use gatehouse_auth::throttle::asks_to_upgrade;
use gatehouse_auth::{Decision, RequestFacts, Visit};
use gatehouse_domain::{ErrorCode, Problem, RequestId};
use http::header::LOCATION;
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use tower::ServiceExt;

/// The other end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// Its address.
    pub address: SocketAddr,
    /// Whether the connection is our own TLS.
    pub over_tls: bool,
}

/// Takes a request through the gate and, if it may pass, to its route.
pub async fn enter(app: &App, peer: Peer, request: Request) -> Response {
    let rooms = app.rooms();
    let id = RequestId::generate(&*rooms.clock, &*rooms.random);
    let (mut parts, body) = request.into_parts();
    let mut trail = Trail::begin(&parts.method, peer);
    parts.extensions.insert(id.clone());
    let answer = match admit(app, peer, &mut parts, &mut trail).await {
        Ok(()) => route(app, Request::from_parts(parts, body)).await,
        Err(response) => response,
    };
    leave(answer, &id, &trail)
}

/// Ok: the request may go to its route, with its [`Visit`] beside it.
async fn admit(
    app: &App,
    peer: Peer,
    request: &mut Parts,
    trail: &mut Trail,
) -> Result<(), Response> {
    path::check(&request.uri).map_err(refuse)?;
    let visit = recognise(app, peer, request).await.map_err(refuse)?;
    trail.recognised(&visit);
    throttle(app, &visit).map_err(refuse)?;
    refuse_unless_allowed(app, request, &visit)?;
    vault_guard::check(app.secrets().status(), &request.method, request.uri.path())
        .map_err(refuse)?;
    request.extensions.insert(visit);
    Ok(())
}

fn refuse(problem: Problem) -> Response {
    Refusal(problem).into_response()
}

async fn recognise(app: &App, peer: Peer, request: &Parts) -> Result<Visit, Problem> {
    let facts = RequestFacts {
        method: &request.method,
        uri: &request.uri,
        headers: &request.headers,
        peer: peer.address.ip(),
        over_tls: peer.over_tls,
    };
    let visit = app.auth().recognise(&facts).await?;
    app.auth().cross_site(&facts, &visit)?;
    Ok(visit)
}

/// Only who was not let in is counted.
fn throttle(app: &App, visit: &Visit) -> Result<(), Problem> {
    match (&visit.decision, visit.class) {
        (Decision::Allowed(_), _) | (_, None) => Ok(()),
        (_, Some(class)) => Ok(app.auth().throttle().admit(class, &visit.client)?),
    }
}

fn refuse_unless_allowed(app: &App, request: &Parts, visit: &Visit) -> Result<(), Response> {
    let path = request.uri.path();
    let code = match visit.decision {
        Decision::Allowed(_) => return Ok(()),
        _ if is_public(&request.method, path) => return Ok(()),
        Decision::SetupRequired => ErrorCode::SetupRequired,
        Decision::Unauthorized => ErrorCode::NotAuthenticated,
    };
    let is_upgrade = asks_to_upgrade(&request.method, &request.headers);
    match (path_class(path, is_upgrade), code) {
        (PathClass::Page, ErrorCode::SetupRequired) if path != "/onboarding" => {
            Err(see_other("/onboarding"))
        }
        (PathClass::Page, _) => Err(pages::shell(app)),
        (_, ErrorCode::SetupRequired) => Err(refuse(Problem::new(
            code,
            "Setup is not complete; open /onboarding with the setup code from the terminal.",
        ))),
        _ => Err(refuse(Problem::new(code, "Log in, or send an API key."))),
    }
}

fn see_other(to: &'static str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    response.headers_mut().insert(LOCATION, HeaderValue::from_static(to));
    response
}

/// A handler that panics is one failed request, not a dead server.
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

fn leave(mut response: Response, id: &RequestId, trail: &Trail) -> Response {
    write_refusal(&mut response, id.as_str());
    headers::add(&mut response, id, trail.is_https());
    observe::record(&response, id, trail);
    response
}
