//! `/auth/callback/{server}`: an authorization server redirects the browser here after a person has authorized an MCP
//! server.
//!
//! The session cookie is `SameSite=Strict`, so the browser does not send it with a redirect from another site. The
//! first response is therefore a page of this site that opens the same URL again.

use crate::app::App;
use crate::body::Requester;
use crate::pages::escape_attribute as escape;
use crate::standalone::{END, Forms, Language, head, respond};
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use gatehouse_auth::{BeforeSetup, Subject};
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_services::to_problem;
use gatehouse_tools::{Callback, OAuthError};
use http::header::{CACHE_CONTROL, LOCATION};
use http::{HeaderValue, Method, StatusCode, Uri};

/// The page that shows the result.
const PAGE: HeaderValue = HeaderValue::from_static("/settings/mcp");
/// Marks the second request.
const AGAIN: &str = "again";

pub(super) async fn get(
    State(app): State<App>,
    requester: Requester,
    method: Method,
    uri: Uri,
    language: Language,
    server: Result<Path<String>, PathRejection>,
) -> Response {
    let callback = Query::<Callback>::try_from_uri(&uri);
    let (Ok(Path(server)), Ok(Query(callback)), Method::GET) = (server, callback, method) else {
        return refusal(language, &to_problem(OAuthError::NoFlow));
    };
    if callback.state.is_none() {
        return refusal(language, &to_problem(OAuthError::NoFlow));
    }
    let context = &requester.context;
    let session = context.identity().ok();
    let session = session.and_then(|identity| match &identity.subject {
        Subject::Session(session) => Some((identity, session.id().as_str())),
        _ => None,
    });
    let Some((identity, session)) = session else {
        if is_second(&uri) {
            let message = "Log in, then connect the MCP server again on its page.";
            return refusal(
                language,
                &Problem::new(ErrorCode::NotAuthenticated, message),
            );
        }
        return reload(language, &uri);
    };
    let mcp = app.services().tools.mcp();
    let actor = context.actor();
    // The login session must still be valid when the tokens are stored.
    let guard = app.auth().guard(identity, BeforeSetup::AsSet);
    let finished = mcp.finish_authorization(&actor, &server, session, callback);
    match guard.over(finished).await {
        Ok(()) => to_page(),
        Err(error) => refusal(language, &to_problem(error)),
    }
}

/// Returns a page with the reason, which the person's browser shows.
fn refusal(language: Language, problem: &Problem) -> Response {
    let reason = escape(&problem.message);
    let title = language.say(
        "The MCP server was not connected",
        "Der MCP-Server wurde nicht verbunden",
    );
    let (head, back) = (
        head(language, title),
        language.say("MCP servers", "MCP-Server"),
    );
    let page = format!(
        "{head}<p lang=\"en\">{reason}</p>\n<p><a href=\"/settings/mcp\">{back}</a></p>\n{END}"
    );
    let mut response = respond(page.into(), Forms::None);
    let status = StatusCode::from_u16(problem.code.http_status());
    *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
}

fn is_second(uri: &Uri) -> bool {
    let query = uri.query().unwrap_or_default();
    query.split('&').any(|pair| pair == AGAIN)
}

/// Returns a page that opens the same address again.
fn reload(language: Language, uri: &Uri) -> Response {
    let query = uri.query().unwrap_or_default();
    let address = format!("{}?{query}&{AGAIN}", uri.path());
    let address = escape(&address);
    let title = language.say("Connecting the MCP server", "Der MCP-Server wird verbunden");
    let refresh = format!("<head>\n<meta http-equiv=\"refresh\" content=\"0;url={address}\">\n");
    let head = head(language, title).replacen("<head>\n", &refresh, 1);
    let go = language.say("Continue", "Weiter");
    let page = format!("{head}<p><a href=\"{address}\">{go}</a></p>\n{END}");
    respond(page.into(), Forms::None)
}

fn to_page() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    headers.insert(LOCATION, PAGE);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
