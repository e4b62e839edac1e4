//! The router and the access checks of the endpoints in the route table.

mod approve;
mod attachments;
mod auth;
mod backup;
mod documents;
pub(crate) mod endpoint;
pub(crate) mod health;
mod ingest;
mod mcp;
mod mcp_callback;
mod openai;
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
use crate::pages;
use crate::respond::Refusal;
use crate::route::{Access, Route, StepUp, Verb};
use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use futures_util::future::{BoxFuture, Either, Ready, ready};
use gatehouse_auth::{AuthError, AuthIdentity, BeforeSetup, Decision};
use gatehouse_domain::{ErrorCode, Problem, Scope};
use gatehouse_store::{Guarded, unguarded};
use http::Method;
use std::task::{Context, Poll};
use tower::{Layer, Service};

/// Builds the router from the table.
pub(crate) fn router(app: &App) -> Router {
    let mut router = Router::new();
    for (place, route) in ROUTES.iter().enumerate() {
        let app = app.clone();
        let guarded = (route.handler)().guarded(Authorise { app, place, route });
        router = router.route(route.path, guarded);
    }
    router
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(fallback)
        .with_state(app.clone())
}

/// Checks before each handler whether the identity may call the route. This is a dedicated service, because a function
/// with `from_fn` allocates several boxes per request.
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
    S: Service<Request, Response = Response> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = S::Error;
    type Future = Either<
        Either<Ready<Result<Response, S::Error>>, Guarded<S::Future>>,
        BoxFuture<'static, Result<Response, S::Error>>,
    >;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.handler.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let Authorise { app, place, route } = &self.rule;
        let identity = match check(app, *place, route, request.extensions().get()) {
            Ok(identity) => identity,
            Err(problem) => {
                let refusal = ready(Ok(Refusal(problem).into_response()));
                return Either::Left(Either::Left(refusal));
            }
        };
        match identity {
            Some(identity) if route.step_up == StepUp::Always => {
                // The clone has not been polled to readiness, but the original has.
                let handler = self.handler.clone();
                let mut handler = std::mem::replace(&mut self.handler, handler);
                let rule = self.rule.clone();
                Either::Right(Box::pin(async move {
                    if let Err(problem) = rule.app.auth().require_step_up(&identity).await {
                        return Ok(Refusal(problem).into_response());
                    }
                    rule.run(Some(&identity), &mut handler, request).await
                }))
            }
            identity => {
                let response = self.rule.run(identity.as_ref(), &mut self.handler, request);
                Either::Left(Either::Right(response))
            }
        }
    }
}

impl Authorise {
    /// Calls the handler. The handler's writes require that the caller's credential is still valid.
    fn run<S: Service<Request>>(
        &self,
        identity: Option<&AuthIdentity>,
        handler: &mut S,
        request: Request,
    ) -> Guarded<S::Future> {
        let Some(identity) = identity.filter(|_| self.route.verb != Verb::Get) else {
            return unguarded(handler.call(request));
        };
        let guard = self.app.auth().guard(identity, before_setup(self.route));
        let request = request.map(|body| alive::watch(&self.app, identity, body));
        guard.over(handler.call(request))
    }
}

/// Returns whether a route works before setup. Routes that accept the setup code complete setup,
/// and check the code themselves.
const fn before_setup(route: &Route) -> BeforeSetup {
    if route.takes_setup_code {
        BeforeSetup::CompletesIt
    } else {
        BeforeSetup::AsSet
    }
}

/// Returns the caller's identity if the route can change something for the caller or requires a confirmation.
fn check(
    app: &App,
    place: usize,
    rule: &'static Route,
    arrival: Option<&Arrival>,
) -> Result<Option<AuthIdentity>, Problem> {
    // The gate inserts the arrival. A route must not respond without it.
    let arrival = arrival.ok_or_else(Problem::internal)?;
    arrival.route.set(place, rule);
    let context = &arrival.context;
    let identity = match (rule.access, &context.decision) {
        (Access::Public, _) | (Access::AdminOrSetup, Decision::SetupRequired) => {
            return Ok(None);
        }
        _ => context.identity()?,
    };
    if !rule.carries_calls && !identity.may_call(rule.path) {
        return Err(AuthError::OutsideOnly.into());
    }
    match rule.access {
        Access::Scope(scope) => app.auth().require_scope(identity, scope)?,
        Access::AdminOrSetup => app.auth().require_scope(identity, Scope::Admin)?,
        Access::Public | Access::Identity => {}
    }
    if rule.verb == Verb::Get && rule.step_up != StepUp::Always {
        return Ok(None);
    }
    let needs_scope = rule.access != Access::Identity && rule.verb != Verb::Get;
    if needs_scope && before_setup(rule) == BeforeSetup::AsSet {
        app.auth().require_setup_first(identity)?;
    }
    Ok(Some(identity.clone()))
}

/// Returns the error for a path that exists without this method. axum adds the `Allow` header.
async fn method_not_allowed() -> Refusal {
    let message = "This path does not support this method.";
    Refusal(Problem::new(ErrorCode::MethodNotAllowed, message))
}

/// Handles paths without a row. Page paths return the page, which displays its own "not found" message. All other paths
/// return 404, even below a public prefix, which contains files but no pages.
async fn fallback(State(app): State<App>, request: Request) -> Response {
    use crate::gate::class::{PathClass, path_class};
    use crate::gate::public::is_public;
    let path = request.uri().path();
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let arrival: Option<&Arrival> = request.extensions().get();
    let is_upgrade = arrival.is_some_and(|arrival| arrival.context.is_upgrade);
    let identity = arrival.and_then(|arrival| arrival.context.decision.identity());
    let is_limited = identity.is_some_and(|identity| identity.only().is_some());
    match path_class(path, is_upgrade) {
        PathClass::Page if is_public(request.method(), path) => not_found(),
        PathClass::Page if is_limited => Refusal(AuthError::OutsideOnly.into()).into_response(),
        PathClass::Page if is_read => pages::inside(&app, path),
        _ => not_found(),
    }
}

fn not_found() -> Response {
    Refusal(Problem::not_found("path")).into_response()
}
