//! `/approve/{token}`: a tool call that waits for approval. With `approvals.links = "bearer"`, the token is the
//! credential, and this module serves a page without a script. Otherwise the web UI is served, which asks for a login.

use crate::app::App;
use crate::body::Requester;
use crate::pages::{escape_attribute as escape, shell};
use crate::respond::Refusal;
use crate::standalone::{END, Forms, head, respond, time};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use gatehouse_agents::Approval;
use gatehouse_config::ApprovalLinks;
use gatehouse_domain::{Actor, ErrorCode, Problem};
use gatehouse_services::to_problem;
use http::StatusCode;
use serde::Deserialize;
use std::fmt::Write as _;

/// The query of an answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Given {
    answer: GivenAnswer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum GivenAnswer {
    Allow,
    Deny,
}

type Token = Result<Path<String>, PathRejection>;

/// Shows the call. Programs that preview links fetch this address, so it changes nothing.
pub(super) async fn get(State(app): State<App>, token: Token) -> Result<Response, Refusal> {
    if !is_bearer(&app) {
        return Ok(shell(&app));
    }
    Ok(match find(&app, token).await? {
        Some(asked) => respond(question(&asked).into(), Forms::Own),
        None => gone(),
    })
}

/// Answers the call.
pub(super) async fn post(
    State(app): State<App>,
    requester: Requester,
    token: Token,
    given: Result<Query<Given>, QueryRejection>,
) -> Result<Response, Refusal> {
    if !is_bearer(&app) {
        return Err(Problem::not_found("approval").into());
    }
    let Ok(Query(given)) = given else {
        return Err(Problem::invalid_params("answer", "must be allow or deny").into());
    };
    let Some(asked) = find(&app, token).await? else {
        return Ok(gone());
    };
    let allow = given.answer == GivenAnswer::Allow;
    let actor = Actor {
        name: "approval link".to_owned(),
        ..requester.context.actor()
    };
    let services = app.services();
    let resolved = services.resolve_approval(&actor, &asked, allow, None);
    match resolved.await {
        Ok(()) => {}
        Err(problem) if problem.code == ErrorCode::NotFound => return Ok(gone()),
        Err(problem) => return Err(problem.into()),
    }
    let mut page = head(if allow { "Allowed" } else { "Denied" });
    let (tool, rest) = (escape(&asked.shown.tool), END);
    let what = if allow { "runs now" } else { "does not run" };
    let _ = write!(
        page,
        "<p>The call of {tool} {what}. You can close this page.</p>\n{rest}"
    );
    Ok(respond(page.into(), Forms::None))
}

fn is_bearer(app: &App) -> bool {
    app.services().config.resolved().settings.approvals.links == ApprovalLinks::Bearer
}

async fn find(app: &App, token: Token) -> Result<Option<Approval>, Problem> {
    let Ok(Path(token)) = token else {
        return Ok(None);
    };
    let found = app.services().agents.find_approval_by_token(&token).await;
    found.map_err(to_problem)
}

/// The page for a link that is unknown, answered or expired.
fn gone() -> Response {
    let mut page = head("Nothing to approve");
    page.push_str(
        "<p>This call no longer waits for approval: somebody answered it, or it expired and counts as denied. \
         Nothing was changed.</p>\n",
    );
    page.push_str(END);
    let mut response = respond(page.into(), Forms::None);
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

fn question(asked: &Approval) -> String {
    let mut page = head("Allow this call?");
    let _ = write!(
        page,
        "<p>The agent {} asks to call the tool <code>{}</code> with these arguments:</p>\n\
         <pre><code>{}</code></pre>\n",
        escape(&asked.agent),
        escape(&asked.shown.tool),
        escape(&asked.shown.arguments)
    );
    if asked.shown.hidden > 0 {
        let _ = writeln!(
            page,
            "<p class=\"note\">{} characters that hide or reorder text are shown as escapes.</p>",
            asked.shown.hidden
        );
    }
    for (answer, label) in [("allow", "Allow"), ("deny", "Deny")] {
        let _ = writeln!(
            page,
            "<form method=\"post\" action=\"?answer={answer}\"><button>{label}</button></form>"
        );
    }
    let until = time(asked.expires_at);
    let _ = write!(
        page,
        "<p class=\"note\">Without an answer by {until} the call is denied.</p>\n{END}"
    );
    page
}
