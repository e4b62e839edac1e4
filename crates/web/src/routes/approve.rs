//! `/approve/{token}`: a tool call that waits for approval. With `approvals.links = "bearer"`, the token is the
//! credential, and this module serves a page without a script. Otherwise it serves the web UI, which requires a login.

mod pages;

use self::pages::{answered, gone, needs_login, question};
use crate::app::App;
use crate::body::Requester;
use crate::pages::shell;
use crate::respond::Refusal;
use crate::standalone::{Forms, Language, respond};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use gatehouse_agents::Approval;
use gatehouse_config::ApprovalLinks;
use gatehouse_domain::{Actor, ErrorCode, Problem};
use gatehouse_services::{AnsweredThrough, ApprovalAnswer, to_problem};
use serde::Deserialize;

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

/// Shows the call. Programs that preview links fetch this URL, so this handler changes nothing. An answer in the query
/// only decides which button is first.
pub(super) async fn get(
    State(app): State<App>,
    language: Language,
    token: Token,
    given: Result<Query<Given>, QueryRejection>,
) -> Result<Response, Refusal> {
    if !is_bearer(&app) {
        return Ok(shell(&app));
    }
    let token = text_of(token);
    let Some(asked) = find(&app, &token).await? else {
        return ended(&app, language, &token).await;
    };
    let denies = given.is_ok_and(|Query(given)| given.answer == GivenAnswer::Deny);
    Ok(respond(
        question(language, &asked, denies).into(),
        Forms::Own,
    ))
}

/// Answers the call.
pub(super) async fn post(
    State(app): State<App>,
    requester: Requester,
    language: Language,
    token: Token,
    given: Result<Query<Given>, QueryRejection>,
) -> Result<Response, Refusal> {
    if !is_bearer(&app) {
        return Ok(needs_login(language));
    }
    let Ok(Query(given)) = given else {
        return Err(Problem::invalid_params("answer", "must be allow or deny").into());
    };
    let token = text_of(token);
    let services = app.services();
    let Some(asked) = find(&app, &token).await? else {
        return ended(&app, language, &token).await;
    };
    let allow = given.answer == GivenAnswer::Allow;
    let actor = Actor {
        name: "approval link".to_owned(),
        ..requester.context.actor()
    };
    // The link answers only this call. Approving later calls needs a login.
    let answer = ApprovalAnswer {
        allow,
        remember: None,
        by: None,
        through: AnsweredThrough::Link,
    };
    match services.resolve_approval(&actor, &asked, answer).await {
        Ok(()) => {}
        Err(problem) if problem.code == ErrorCode::NotFound => {
            return ended(&app, language, &token).await;
        }
        Err(problem) => return Err(problem.into()),
    }
    Ok(respond(answered(language, &asked, allow), Forms::None))
}

fn is_bearer(app: &App) -> bool {
    app.services().config.resolved().settings.approvals.links == ApprovalLinks::Bearer
}

/// Returns the token in the path. A path that cannot be decoded contains none.
fn text_of(token: Token) -> String {
    token.map(|Path(token)| token).unwrap_or_default()
}

/// Returns the page for a link that is unknown or whose call no longer waits.
async fn ended(app: &App, language: Language, token: &str) -> Result<Response, Refusal> {
    let end = app.services().approval_link_end(token).await;
    Ok(gone(language, end.map_err(to_problem)?))
}

async fn find(app: &App, token: &str) -> Result<Option<Approval>, Problem> {
    let found = app.services().agents.find_approval_by_token(token).await;
    found.map_err(to_problem)
}
