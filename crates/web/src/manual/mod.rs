//! `/docs`: the documents in `docs/`, embedded and rendered as pages without script. They describe the running
//! version and need no network.

mod chapters;
mod markdown;

use crate::respond::Refusal;
use crate::standalone::{END, Forms, Language, accepts_html, begin, brand, notice, respond};
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::response::Response;
use gatehouse_domain::Problem;
use http::{HeaderMap, StatusCode};

/// The table of contents.
pub(crate) async fn contents() -> Result<Response, Refusal> {
    page(chapters::CONTENTS).ok_or_else(not_found)
}

/// One document.
pub(crate) async fn chapter(
    headers: HeaderMap,
    name: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    let name = name.map(|Path(name)| name).unwrap_or_default();
    match page(&name) {
        Some(page) => Ok(page),
        None if accepts_html(&headers) => Ok(missing(Language::of(&headers))),
        None => Err(not_found()),
    }
}

fn page(name: &str) -> Option<Response> {
    let chapter = chapters::find(name)?;
    Some(respond(document(chapter).into(), Forms::None))
}

fn not_found() -> Refusal {
    Problem::not_found("document").into()
}

/// The page for a name that no document has.
fn missing(language: Language) -> Response {
    let title = language.say("Document not found", "Dokument nicht gefunden");
    let text = language.say(
        "This version of Gatehouse has no document at this address. All documents are listed at /docs.",
        "Diese Version von Gatehouse hat unter dieser Adresse kein Dokument. Alle Dokumente stehen unter /docs.",
    );
    let mut response = respond(notice(language, title, text), Forms::None);
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

fn document(chapter: &chapters::Chapter) -> String {
    let rendered = markdown::render(chapter);
    let version = env!("CARGO_PKG_VERSION");
    let title = format!("{} – Gatehouse {version}", rendered.title);
    let (begin, brand) = (begin(Language::English, &title), brand());
    let body = rendered.html;
    format!(
        "{begin}<header>{brand}<nav aria-label=\"Documentation\"><a href=\"/docs\">Documentation</a></nav>\
         <span>Version {version}</span><a href=\"/\">Back to the gateway</a></header>\n\
         <main>\n{body}{END}"
    )
}
