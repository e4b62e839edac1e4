//! `/docs`: the documents in `docs/`, embedded and rendered as pages without script. They describe the running
//! version and need no network.

mod chapters;
mod markdown;

use crate::respond::Refusal;
use crate::standalone::{END, Forms, begin, respond};
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::response::Response;
use gatehouse_domain::Problem;

/// The table of contents.
pub(crate) async fn contents() -> Result<Response, Refusal> {
    page(chapters::CONTENTS)
}

/// One document.
pub(crate) async fn chapter(
    name: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    let name = name.map(|Path(name)| name).unwrap_or_default();
    page(&name)
}

fn page(name: &str) -> Result<Response, Refusal> {
    let chapter = chapters::find(name).ok_or_else(|| Problem::not_found("document"))?;
    Ok(respond(document(chapter).into(), Forms::None))
}

fn document(chapter: &chapters::Chapter) -> String {
    let rendered = markdown::render(chapter);
    let version = env!("CARGO_PKG_VERSION");
    let begin = begin(&format!("{} – Gatehouse {version}", rendered.title));
    let body = rendered.html;
    format!(
        "{begin}<header><nav aria-label=\"Documentation\"><a href=\"/docs\">Documentation</a></nav>\
         <span>Gatehouse {version}</span><a href=\"/\">Back to the gateway</a></header>\n\
         <main>\n{body}{END}"
    )
}
