//! The size limit for request heads, identical for all protocols.

use axum::response::{IntoResponse, Response};
use gatehouse_domain::Problem;
use http::StatusCode;
use http::request::Parts;

use crate::respond::Refusal;

/// The maximum size of a request head, measured in its HTTP/1 form.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;

/// Returns the size of a head in HTTP/1.1 (RFC 9112): the request line, each field with `: ` and a line end, and the
/// empty line. The server's read buffer alone is not an exact limit and may accept more.
fn size(parts: &Parts) -> usize {
    let uri = &parts.uri;
    let path = uri.path_and_query().map_or(1, |path| path.as_str().len());
    let origin = uri
        .authority()
        .map_or(0, |authority| authority.as_str().len() + "host: \r\n".len());
    let line = parts.method.as_str().len() + path + "  HTTP/1.1\r\n".len() + origin;
    let field = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        name.as_str().len() + value.len() + ": \r\n".len()
    };
    line + parts.headers.iter().map(field).sum::<usize>() + "\r\n".len()
}

/// Returns the refusal if the head is too large.
pub(super) fn too_large(parts: &Parts) -> Option<Response> {
    if size(parts) <= MAX_HEAD_BYTES {
        return None;
    }
    let problem = Problem::too_large("head of the request", MAX_HEAD_BYTES);
    let mut response = Refusal(problem).into_response();
    *response.status_mut() = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    Some(response)
}
