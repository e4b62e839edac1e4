//! `/approve/{token}`: a tool call that waits for approval. With `approvals.links = "bearer"`, the token is the
//! credential, and this module serves a page without a script. Otherwise the web UI is served, which asks for a login.

use crate::app::App;
use crate::body::Requester;
use crate::pages::{escape_attribute as escape, shell};
use crate::respond::Refusal;
use crate::standalone::{END, Forms, Language, head, notice, respond, time};
use axum::body::Bytes;
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
pub(super) async fn get(
    State(app): State<App>,
    language: Language,
    token: Token,
) -> Result<Response, Refusal> {
    if !is_bearer(&app) {
        return Ok(shell(&app));
    }
    Ok(match find(&app, token).await? {
        Some(asked) => respond(question(language, &asked).into(), Forms::Own),
        None => gone(language),
    })
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
        return Err(Problem::not_found("approval").into());
    }
    let Ok(Query(given)) = given else {
        return Err(Problem::invalid_params("answer", "must be allow or deny").into());
    };
    let Some(asked) = find(&app, token).await? else {
        return Ok(gone(language));
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
        Err(problem) if problem.code == ErrorCode::NotFound => return Ok(gone(language)),
        Err(problem) => return Err(problem.into()),
    }
    Ok(respond(answered(language, &asked, allow), Forms::None))
}

fn answered(language: Language, asked: &Approval, allow: bool) -> Bytes {
    let tool = &asked.shown.tool;
    let (title, text) = match (language, allow) {
        (Language::English, true) => (
            "Allowed",
            format!("The call of {tool} runs now. You can close this page."),
        ),
        (Language::English, false) => (
            "Denied",
            format!("The call of {tool} does not run. You can close this page."),
        ),
        (Language::German, true) => (
            "Erlaubt",
            format!("Der Aufruf von {tool} läuft jetzt. Sie können diese Seite schließen."),
        ),
        (Language::German, false) => (
            "Abgelehnt",
            format!(
                "Der Aufruf von {tool} wird nicht ausgeführt. Sie können diese Seite schließen."
            ),
        ),
    };
    notice(language, title, &text)
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
fn gone(language: Language) -> Response {
    let title = language.say("Nothing to approve", "Nichts freizugeben");
    let text = language.say(
        "This call no longer waits for approval: it was answered, or it expired and counts as denied. Nothing \
         was changed.",
        "Dieser Aufruf wartet nicht mehr auf eine Freigabe: Jemand hat sie beantwortet, oder sie ist abgelaufen und \
         gilt als abgelehnt. Es wurde nichts geändert.",
    );
    let mut response = respond(notice(language, title, text), Forms::None);
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

fn question(language: Language, asked: &Approval) -> String {
    let title = language.say("Allow this call?", "Diesen Aufruf erlauben?");
    let mut page = head(language, title);
    let agent = escape(&asked.agent);
    let tool = format!("<code>{}</code>", escape(&asked.shown.tool));
    let asks = match language {
        Language::English => {
            format!("The agent {agent} asks to call the tool {tool} with these arguments:")
        }
        Language::German => {
            format!("Der Agent {agent} möchte das Tool {tool} mit diesen Argumenten aufrufen:")
        }
    };
    let arguments = escape(&asked.shown.arguments);
    let _ = writeln!(page, "<p>{asks}</p>\n<pre><code>{arguments}</code></pre>");
    if asked.shown.hidden > 0 {
        let what = language.say(
            "characters that hide or reorder text are shown as escapes.",
            "Zeichen, die Text verbergen oder umordnen, werden als Escapes angezeigt.",
        );
        let _ = writeln!(page, "<p class=\"note\">{} {what}</p>", asked.shown.hidden);
    }
    let answers = [
        ("allow", language.say("Allow", "Erlauben")),
        ("deny", language.say("Deny", "Ablehnen")),
    ];
    for (answer, label) in answers {
        let _ = writeln!(
            page,
            "<form method=\"post\" action=\"?answer={answer}\"><button>{label}</button></form>"
        );
    }
    let until = time(language, asked.expires_at);
    let (before, after) = match language {
        Language::English => ("Without an answer by", "the call is denied."),
        Language::German => ("Ohne Antwort bis", "wird der Aufruf abgelehnt."),
    };
    let _ = write!(
        page,
        "<p class=\"note\">{before} {until} {after}</p>\n{END}"
    );
    page
}
