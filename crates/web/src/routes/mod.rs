//! The route table: every HTTP endpoint once, as data. From it come the router, who may call what, the
//! OpenAPI document, and the test that no route lacks a row in the decision table.

mod auth;
mod documents;
mod ingest;
mod passkeys;
mod rpc;
mod sessions;
mod share;
mod status;
mod table;
#[cfg(feature = "vault")]
mod vault;
#[cfg(feature = "voice")]
mod voice;

pub use table::ROUTES;

use crate::alive;
use crate::app::App;
use crate::arrival::Arrival;
use crate::gate;
use crate::pages;
use crate::respond::Refusal;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use futures_util::future::{Either, Ready, ready};
use gatehouse_auth::{AuthError, AuthIdentity, BeforeSetup, Decision};
use gatehouse_domain::{ErrorCode, Problem, Scope};
use gatehouse_store::{Guarded, unguarded};
use http::Method;
use schemars::{Schema, SchemaGenerator};
use std::task::{Context, Poll};
use tower::{Layer, Service};

/// An HTTP method of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Reads; HEAD comes with it.
    Get,
    /// Does something.
    Post,
    /// Changes part of something.
    Patch,
    /// Removes something.
    Delete,
}

impl Verb {
    /// Its name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// Who may call a route, beyond passing the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everybody: the handler asks for no identity, or authenticates by what the body holds.
    Public,
    /// Whoever `check_auth()` allowed.
    Identity,
    /// An administrator, or somebody who is setting up and has the setup code.
    AdminOrSetup,
    /// Whoever `check_auth()` allowed with this scope; a session holds every scope.
    Scope(Scope),
}

/// Whether a recent confirmation is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepUp {
    /// No, or the handler decides by what is asked.
    No,
    /// Yes.
    Always,
    /// Yes, but a right password in the request is one.
    OrPassword,
}

impl StepUp {
    pub(crate) const fn is_needed(self) -> bool {
        !matches!(self, Self::No)
    }
}

/// Gives the schema of a request or answer type.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// One endpoint.
#[derive(Clone, Copy)]
pub struct Route {
    /// Its name in the OpenAPI document: the subject and the verb.
    pub id: &'static str,
    /// Its method.
    pub verb: Verb,
    /// Its path, parameters in braces.
    pub path: &'static str,
    /// Who may call it.
    pub access: Access,
    /// Whether it needs a recent confirmation.
    pub step_up: StepUp,
    /// Whether what it carries are calls of methods, which `only` of a credential judges one by one.
    pub carries_calls: bool,
    /// Whether the body may carry the setup code.
    pub takes_setup_code: bool,
    /// What it does, in a line.
    pub summary: &'static str,
    /// The body that it takes.
    pub body: Option<SchemaOf>,
    /// The body's media type.
    pub body_type: &'static str,
    /// The JSON answer that it gives.
    pub answer: Option<SchemaOf>,
    /// The answer's media type; bytes where it is not JSON.
    pub answer_type: &'static str,
    pub(crate) handler: fn() -> MethodRouter<App>,
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ({:?})", self.verb.name(), self.path, self.access)
    }
}

/// The router over the table.
pub(crate) fn router(app: &App) -> Router {
    let mut router = Router::new();
    for (place, route) in ROUTES.iter().enumerate() {
        let app = app.clone();
        let guarded = (route.handler)().route_layer(Authorise { app, place, route });
        router = router.route(route.path, guarded);
    }
    router
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(fallback)
        .with_state(app.clone())
}

/// Whether the identity that the gate found may call this route: stands before each handler. A
/// service of its own rather than a function for `from_fn`, which makes several boxes a request.
#[derive(Clone)]
struct Authorise {
    app: App,
    place: usize,
    route: &'static Route,
}

impl<S> Layer<S> for Authorise {
    type Service = Authorised<S>;

    fn layer(&self, handler: S) -> Authorised<S> {
        let rule = self.clone();
        Authorised { rule, handler }
    }
}

#[derive(Clone)]
struct Authorised<S> {
    rule: Authorise,
    handler: S,
}

impl<S> Service<Request> for Authorised<S>
where
    S: Service<Request, Response = Response>,
{
    type Response = Response;
    type Error = S::Error;
    type Future = Either<Ready<Result<Response, S::Error>>, Guarded<S::Future>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.handler.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let Authorise { app, place, route } = &self.rule;
        match check(app, *place, route, request.extensions().get()) {
            Ok(None) => Either::Right(unguarded(self.handler.call(request))),
            Ok(Some(identity)) => {
                let guard = app.auth().guard(&identity, before_setup(route));
                let request = request.map(|body| alive::watch(app, &identity, body));
                Either::Right(guard.over(self.handler.call(request)))
            }
            Err(problem) => Either::Left(ready(Ok(Refusal(problem).into_response()))),
        }
    }
}

/// A route that takes the setup code completes setup, and checks the code itself.
const fn before_setup(route: &Route) -> BeforeSetup {
    if route.takes_setup_code {
        BeforeSetup::CompletesIt
    } else {
        BeforeSetup::AsSet
    }
}

/// Who calls, where the route can change something for them: their credential must be alive when it
/// does.
fn check(
    app: &App,
    place: usize,
    rule: &Route,
    arrival: Option<&Arrival>,
) -> Result<Option<AuthIdentity>, Problem> {
    // The gate put it there; a route without a gate before it must not answer.
    let arrival = arrival.ok_or_else(Problem::internal)?;
    arrival.route.set(place);
    let decision = &arrival.visit.decision;
    let identity = match (rule.access, decision) {
        (Access::Public, _) | (Access::AdminOrSetup, Decision::SetupRequired) => {
            return Ok(None);
        }
        (_, Decision::Allowed(identity)) => identity,
        (_, Decision::SetupRequired) => return Err(gate::setup_required_problem()),
        (_, Decision::Unauthorized) => return Err(gate::not_authenticated()),
    };
    if !rule.carries_calls && !identity.may_call(rule.path) {
        return Err(AuthError::OutsideOnly.into());
    }
    match rule.access {
        Access::Scope(scope) => app.auth().require_scope(identity, scope)?,
        Access::AdminOrSetup => app.auth().require_scope(identity, Scope::Admin)?,
        Access::Public | Access::Identity => {}
    }
    if rule.step_up == StepUp::Always {
        app.auth().require_step_up(identity)?;
    }
    if rule.verb == Verb::Get {
        return Ok(None);
    }
    let needs_scope = rule.access != Access::Identity;
    if needs_scope && before_setup(rule) == BeforeSetup::AsSet {
        app.auth().require_setup_first(identity)?;
    }
    Ok(Some(identity.clone()))
}

/// The table has the path, but not with this method; axum adds `Allow`.
async fn method_not_allowed() -> Refusal {
    let message = "This path does not take this method.";
    Refusal(Problem::new(ErrorCode::MethodNotAllowed, message))
}

/// No row: a page path shows the page, which says what it does not know; anything else is 404, also
/// below a public prefix, where files are and no pages.
async fn fallback(State(app): State<App>, request: Request) -> Response {
    use crate::gate::{PathClass, is_public, path_class};
    let is_upgrade = gatehouse_auth::throttle::asks_to_upgrade(request.method(), request.headers());
    let path = request.uri().path();
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let arrival: Option<&Arrival> = request.extensions().get();
    let identity = arrival.and_then(|arrival| arrival.visit.decision.identity());
    let is_limited = identity.is_some_and(|identity| identity.only().is_some());
    match path_class(path, is_upgrade) {
        PathClass::Page if is_limited => Refusal(AuthError::OutsideOnly.into()).into_response(),
        PathClass::Page if is_read && !is_public(request.method(), path) => {
            pages::inside(&app, path)
        }
        _ => Refusal(Problem::not_found("path")).into_response(),
    }
}
