//! The page's files. Release builds embed Vite's output (`ui/dist`) with a `.br` and a `.gz` file for each file that
//! compression makes smaller. Debug builds read the folder. A build without Node contains a substitute document
//! (`crates/web/page`) and the original icons (`ui/public`).

use super::compression::{self, Encoding};
use crate::etag;
use crate::respond::Refusal;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use gatehouse_domain::Problem;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use rust_embed::{EmbeddedFile, RustEmbed};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;

#[derive(RustEmbed)]
#[folder = "../../ui/dist/"]
#[allow_missing = true]
struct Built;

#[derive(RustEmbed)]
#[folder = "../../ui/public/"]
#[allow_missing = true]
struct Public;

#[derive(RustEmbed)]
#[folder = "page/"]
struct Unbuilt;

const BUILT_DOCUMENT: &str = "index.html";
const UNBUILT_DOCUMENT: &str = "unbuilt.html";
const AHEAD: &str = "ahead.json";
/// One year. The file name changes with the content, so clients need not revalidate.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// The file name never changes, so browsers revalidate each time.
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");

/// Returns the document for page paths, with placeholders for its data.
pub(super) fn document() -> Option<Cow<'static, [u8]>> {
    let found = Built::get(BUILT_DOCUMENT).or_else(|| Unbuilt::get(UNBUILT_DOCUMENT))?;
    Some(found.data)
}

/// Returns the `Link` header with the additional files that the page at this path needs. A build without Node has none.
pub(super) fn ahead(path: &str) -> Option<HeaderValue> {
    let found = Built::get(AHEAD)?;
    link_for(&found.data, path)
}

/// Returns the links for a path. Their key is the first path segment (`ui/scripts/ahead.mjs`).
fn link_for(links: &[u8], path: &str) -> Option<HeaderValue> {
    let links: HashMap<&str, &str> = serde_json::from_slice(links).ok()?;
    let first = path.split('/').nth(1).unwrap_or_default();
    let link = links.get(first).filter(|link| !link.is_empty())?;
    HeaderValue::from_str(link).ok()
}

#[cfg(test)]
pub(super) fn documents() -> impl Iterator<Item = Cow<'static, [u8]>> {
    let built = Built::get(BUILT_DOCUMENT).into_iter();
    built
        .chain(Some(Unbuilt::get(UNBUILT_DOCUMENT).unwrap()))
        .map(|found| found.data)
}

/// Returns the path of the typeface for text, without the leading slash. A build without Node has
/// none.
pub(crate) fn typeface() -> Option<Cow<'static, str>> {
    let is_it = |path: &str| {
        let hash = path.strip_prefix("assets/sans-");
        let hash = hash.and_then(|rest| rest.strip_suffix(".woff2"));
        hash.is_some_and(|hash| hash.len() == 8) && is_hashed(path)
    };
    Built::iter().find(|path| is_it(path))
}

fn find(path: &str) -> Option<EmbeddedFile> {
    if Built::get(BUILT_DOCUMENT).is_some() {
        return Built::get(path);
    }
    Unbuilt::get(path).or_else(|| Public::get(path))
}

/// Returns the file in the caller's preferred encoding, or 404. A missing file is never answered with the shell.
pub(super) fn respond(path: &str, request: &HeaderMap) -> Response {
    let is_plain = !Encoding::ALL
        .iter()
        .any(|encoding| path.ends_with(encoding.suffix()));
    match is_plain.then(|| find(path)).flatten() {
        Some(plain) => send(path, plain, request),
        None => Refusal(Problem::not_found("file")).into_response(),
    }
}

fn send(path: &str, plain: EmbeddedFile, request: &HeaderMap) -> Response {
    let compressed = compression::preferred(request).find_map(|encoding| {
        let found = find(&format!("{path}{}", encoding.suffix()))?;
        Some((found, encoding))
    });
    let (file, encoding) = match compressed {
        Some((file, encoding)) => (file, Some(encoding)),
        None => (plain, None),
    };
    let tag = tag(&file);
    let mut response = if etag::is_known(request, &tag) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        let mut response = Response::new(Body::from(file.data));
        if let Some(encoding) = encoding {
            let name = HeaderValue::from_static(encoding.name());
            response.headers_mut().insert(CONTENT_ENCODING, name);
        }
        response
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(path)));
    let keep = if is_hashed(path) { FOR_EVER } else { ASK_AGAIN };
    headers.insert(CACHE_CONTROL, keep);
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    response
}

/// Returns the tag of the sent bytes. Each encoding has its own tag, as RFC 9110 (8.8.3.3)
/// requires.
fn tag(file: &EmbeddedFile) -> String {
    let mut tag = String::from("\"");
    for byte in file.metadata.sha256_hash().iter().take(12) {
        let _ = write!(tag, "{byte:02x}");
    }
    tag.push('"');
    tag
}

/// Vite names its output `assets/NAME-HASH.EXTENSION`, with eight characters of URL-safe base64.
fn is_hashed(path: &str) -> bool {
    const HASH: usize = 8;
    let Some((name, _)) = path
        .strip_prefix("assets/")
        .and_then(|file| file.rsplit_once('.'))
    else {
        return false;
    };
    let Some((before, hash)) = name.split_at_checked(name.len().saturating_sub(HASH)) else {
        return false;
    };
    let is_of_hash = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    before.len() > 1 && before.ends_with('-') && hash.bytes().all(is_of_hash)
}

fn content_type(path: &str) -> &'static str {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension);
    match extension.unwrap_or_default() {
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "html" => "text/html; charset=utf-8",
        "txt" => "text/plain; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        "json" if path == "manifest.json" => "application/manifest+json",
        "json" => "application/json",
        "webmanifest" => "application/manifest+json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests;
