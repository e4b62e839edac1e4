//! The page: files of `crates/web/page`, embedded in the binary. The shell carries six facts and
//! nothing else, because everybody may see it.

use crate::app::App;
use crate::respond::Refusal;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use gatehouse_domain::Problem;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, StatusCode};
use rust_embed::{EmbeddedFile, RustEmbed};
use serde_json::json;
use std::fmt::Write as _;

#[derive(RustEmbed)]
#[folder = "page/"]
struct Files;

const PLACEHOLDER: &str = "__SHELL_DATA__";

/// The shell of the single-page application: the same for everybody and for every page path.
pub(crate) fn shell(app: &App) -> Response {
    let facts = app.auth().facts();
    let rooms = app.rooms();
    let data = json!({
        "product": "Gatehouse",
        "vault_status": app.secrets().status().as_str(),
        "voice_enabled": rooms.build.voice,
        "has_passkeys": facts.has_passkeys,
        "setup_required": !facts.setup_complete,
        "auth_disabled": facts.auth_disabled,
    });
    let Some(file) = Files::get("shell.html") else {
        return Refusal(Problem::internal()).into_response();
    };
    let html = String::from_utf8_lossy(&file.data)
        .replace(PLACEHOLDER, &escape_attribute(&data.to_string()));
    let mut response = Response::new(Body::from(html));
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A text that becomes no markup, in an attribute or between tags.
pub(crate) fn escape_attribute(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() * 2);
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            other => escaped.push(other),
        }
    }
    escaped
}

pub(crate) async fn page(State(app): State<App>) -> Response {
    shell(&app)
}

pub(crate) async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    file(&format!("assets/{name}"), &headers)
}

pub(crate) async fn icon(Path(name): Path<String>, headers: HeaderMap) -> Response {
    file(&format!("icons/{name}"), &headers)
}

pub(crate) async fn favicon(headers: HeaderMap) -> Response {
    file("favicon.svg", &headers)
}

pub(crate) async fn manifest(headers: HeaderMap) -> Response {
    file("manifest.json", &headers)
}

pub(crate) async fn service_worker(headers: HeaderMap) -> Response {
    file("sw.js", &headers)
}

fn file(path: &str, request: &HeaderMap) -> Response {
    match Files::get(path) {
        Some(found) => send(path, found, request),
        None => Refusal(Problem::not_found("file")).into_response(),
    }
}

/// Files keep their names over versions, so a browser asks each time, and is told when nothing changed.
fn send(path: &str, found: EmbeddedFile, request: &HeaderMap) -> Response {
    let mut tag = String::from("\"");
    for byte in found.metadata.sha256_hash().iter().take(12) {
        let _ = write!(tag, "{byte:02x}");
    }
    tag.push('"');
    let is_known = request
        .get(IF_NONE_MATCH)
        .is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let mut response = if is_known {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        Response::new(Body::from(found.data.into_owned()))
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(path)));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    response
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/manifest+json",
        Some("html") => "text/html; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_has_one_place_for_its_facts() {
        let shell = Files::get("shell.html").unwrap();
        let text = String::from_utf8(shell.data.into_owned()).unwrap();
        assert_eq!(text.matches(PLACEHOLDER).count(), 1);
        assert!(
            !text.contains("<script>"),
            "the policy allows no inline script"
        );
    }

    #[test]
    fn an_attribute_cannot_be_left() {
        assert_eq!(
            escape_attribute(r#"{"a":"<'&>"}"#),
            "{&quot;a&quot;:&quot;&lt;&#39;&amp;&gt;&quot;}"
        );
    }
}
