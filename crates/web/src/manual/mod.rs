//! `/docs`: the documents in `docs/`, embedded and rendered as pages without script. They describe the running
//! version and need no network.

mod chapters;
mod markdown;
mod search;

use crate::pages::escape_attribute as escape;
use crate::respond::{Refusal, unreadable_query};
use crate::standalone::{END, Forms, Language, accepts_html, begin, brand, notice, respond};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query};
use axum::response::Response;
use gatehouse_domain::Problem;
use http::{HeaderMap, StatusCode};
use serde::Deserialize;

/// The query of `/docs`.
#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    /// Words to search for.
    #[serde(default)]
    q: String,
}

/// Returns the table of contents, or the sections that contain the words of a search.
pub(crate) async fn contents(
    asked: Result<Query<Asked>, QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(Asked { q }) = asked.map_err(|_| unreadable_query())?;
    let words = search::words(&q);
    if words.is_empty() {
        return page(chapters::CONTENTS).ok_or_else(not_found);
    }
    let search = tokio::task::spawn_blocking(move || search::results(&words));
    let results = search.await.map_err(|_| Problem::internal())?;
    let page = layout("Search", &q, &results);
    Ok(respond(page.into(), Forms::Own))
}

/// Returns one document.
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
    let rendered = markdown::render(chapter);
    let page = layout(&rendered.title, "", &rendered.html);
    Some(respond(page.into(), Forms::Own))
}

fn not_found() -> Refusal {
    Problem::not_found("document").into()
}

/// Returns the page for an unknown name.
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

/// Returns a page of the documentation. `query` is the content of the search field.
fn layout(title: &str, query: &str, body: &str) -> String {
    const QUERY_CHARS: usize = search::QUERY_CHARS;
    let version = env!("CARGO_PKG_VERSION");
    let title = format!("{title} – Gatehouse {version}");
    let (begin, brand, query) = (begin(Language::English, &title), brand(), escape(query));
    format!(
        "{begin}<header>{brand}<nav aria-label=\"Documentation\"><a href=\"/docs\">Documentation</a></nav>\
         <span>Version {version}</span><a href=\"/\">Back to the gateway</a>\
         <form action=\"/docs\" role=\"search\"><input type=\"search\" name=\"q\" value=\"{query}\" \
         maxlength=\"{QUERY_CHARS}\" required aria-label=\"Search the documentation\"> \
         <button>Search</button></form></header>\n<main>\n{body}{END}"
    )
}
