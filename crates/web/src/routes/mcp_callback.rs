//! `/auth/callback/{server}`: where an authorization server sends a person back who connects an MCP server with an account.
//!
//! The session cookie is `SameSite=Strict`, so the browser does not send it with the redirect from another site. The first
//! answer is therefore a page of this site that opens the same address once more.

use crate::app::App;
use crate::body::Requester;
use crate::pages::escape_attribute as escape;
use crate::respond::Refusal;
use crate::standalone::{END, Forms, head, respond};
use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use gatehouse_auth::Subject;
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
    server: Result<Path<String>, PathRejection>,
    callback: Result<Query<Callback>, QueryRejection>,
) -> Result<Response, Refusal> {
    let (Ok(Path(server)), Ok(Query(callback)), Method::GET) = (server, callback, method) else {
        return Err(to_problem(OAuthError::NoFlow).into());
    };
    if callback.state.is_none() {
        return Err(to_problem(OAuthError::NoFlow).into());
    }
    let context = &requester.context;
    let Ok(Subject::Session(session)) = context.identity().map(|identity| &identity.subject) else {
        if is_second(&uri) {
            let message = "Log in, then connect the MCP server again on its page.";
            return Err(Problem::new(ErrorCode::NotAuthenticated, message).into());
        }
        return Ok(reload(&uri));
    };
    let mcp = app.services().tools.mcp();
    let (actor, session) = (context.actor(), session.id().as_str());
    let finished = mcp.finish_authorization(&actor, &server, session, callback);
    match finished.await {
        Err(error @ OAuthError::NoFlow) => Err(to_problem(error).into()),
        // The page shows an error, which is stored.
        Ok(()) | Err(_) => Ok(to_page()),
    }
}

fn is_second(uri: &Uri) -> bool {
    let query = uri.query().unwrap_or_default();
    query.split('&').any(|pair| pair == AGAIN)
}

/// A page that opens the same address again.
fn reload(uri: &Uri) -> Response {
    let query = uri.query().unwrap_or_default();
    let address = format!("{}?{query}&{AGAIN}", uri.path());
    let address = escape(&address);
    let page = format!(
        "{}<p><a href=\"{address}\">Continue</a></p>\n{END}",
        head("Connecting the MCP server").replacen(
            "<head>\n",
            &format!("<head>\n<meta http-equiv=\"refresh\" content=\"0;url={address}\">\n"),
            1,
        ),
    );
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
