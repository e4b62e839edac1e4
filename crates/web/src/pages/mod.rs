//! The page: the shell for every page path, and the files that it loads. The page is built from `ui/` and
//! embedded.

mod compression;
mod files;
mod shell;

pub(crate) use files::typeface;
pub(crate) use shell::{escape_attribute, shell};

use crate::app::App;
use axum::extract::{Path, State};
use axum::response::Response;
use http::HeaderMap;
use http::header::LINK;

pub(crate) async fn page(State(app): State<App>) -> Response {
    shell(&app)
}

pub(crate) async fn home(State(app): State<App>) -> Response {
    inside(&app, "/")
}

/// Returns the shell with preload links for an authenticated user. Other users need only the login view, so they get no
/// links.
pub(crate) fn inside(app: &App, path: &str) -> Response {
    let mut response = shell(app);
    let is_set_up = app.auth().facts().setup_complete;
    if let Some(link) = is_set_up.then(|| files::ahead(path)).flatten() {
        response.headers_mut().insert(LINK, link);
    }
    response
}

pub(crate) async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    files::respond(&format!("assets/{name}"), &headers)
}

pub(crate) async fn icon(Path(name): Path<String>, headers: HeaderMap) -> Response {
    files::respond(&format!("icons/{name}"), &headers)
}

pub(crate) async fn favicon(headers: HeaderMap) -> Response {
    files::respond("favicon.svg", &headers)
}

pub(crate) async fn manifest(headers: HeaderMap) -> Response {
    files::respond("manifest.json", &headers)
}

pub(crate) async fn service_worker(headers: HeaderMap) -> Response {
    files::respond("sw.js", &headers)
}
