//! `POST /mcp`: the gateway as an MCP server, with the transport "streamable HTTP"
//! (<https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#streamable-http>). The server sends no
//! messages of its own and stores no sessions, so GET and DELETE return 405.

mod event_stream;

use crate::app::App;
use crate::arrival::Arrival;
use crate::body::{self, Requester};
use crate::respond::Refusal;
use crate::while_live::Credential;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_rpc::envelope::{Id, refusal};
use gatehouse_rpc::mcp_endpoint::Head;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};

const PROTOCOL_VERSION: &str = "mcp-protocol-version";
const SESSION: &str = "mcp-session-id";
/// The longest session ID that is used, in bytes. IDs from this server have 22.
const MAX_SESSION: usize = 64;
const ACCEL_BUFFERING: &str = "x-accel-buffering";
const EVENT_STREAM: &str = "text/event-stream";

pub(super) async fn post(
    State(app): State<App>,
    requester: Requester,
    request: Request,
) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    let bytes = body::read_json_bytes(&app, &parts, body, app.max_message_bytes()).await?;
    if !accepts_json(&parts.headers) {
        let message = "Responses are application/json, and the header Accept excludes it.";
        let problem = Problem::new(ErrorCode::InvalidRequest, message);
        return Ok(error(StatusCode::NOT_ACCEPTABLE, &problem));
    }
    let version = parts.headers.get(PROTOCOL_VERSION);
    let head = Head {
        version: version.map(|version| version.to_str().unwrap_or_default()),
        session: session(&parts.headers),
        request_id: parts
            .extensions
            .get::<Arrival>()
            .map(|arrival| arrival.id.clone()),
    };
    let work = match app.rpc().call_mcp(&requester.context, &bytes, head) {
        Ok(work) => work,
        Err(problem) if problem.code.http_status() == 400 => {
            return Ok(error(StatusCode::BAD_REQUEST, &problem));
        }
        Err(problem) => return Err(problem.into()),
    };
    // The params have been read and are charged separately.
    drop(bytes);
    let credential = Credential::of_context(&app, &requester.context)?;
    let accepts_events = accepts(&parts.headers, &[EVENT_STREAM]);
    if let Some(progress) = work.progress.filter(|_| accepts_events) {
        let body = event_stream::body(work.reply, progress, &credential);
        let mut response = respond_as(EVENT_STREAM, StatusCode::OK, body);
        // Without this header, nginx buffers the events.
        let unbuffered = HeaderValue::from_static("no");
        response.headers_mut().insert(ACCEL_BUFFERING, unbuffered);
        return Ok(response);
    }
    let reply = work.reply.await;
    // The tools may have run for minutes. If the credential has ended, their results are not sent.
    credential.confirm().await?;
    let mut response = match reply {
        Some(reply) => json(StatusCode::OK, Body::from(Bytes::from_owner(reply))),
        // The body contained only notifications.
        None => respond(StatusCode::ACCEPTED, Body::empty()),
    };
    let begun = work.session.map(HeaderValue::try_from);
    if let Some(Ok(session)) = begun {
        response.headers_mut().insert(SESSION, session);
    }
    Ok(response)
}

/// Returns the session that the client names. Another program may have chosen the ID, so any value
/// is accepted.
fn session(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(SESSION)?.to_str().ok()?;
    Some(value).filter(|value| value.len() <= MAX_SESSION)
}

/// Clients must accept JSON and event streams. A client that sends no `Accept` gets JSON.
fn accepts_json(headers: &HeaderMap) -> bool {
    let ranges = ["application/json", "application/*", "*/*"];
    !headers.contains_key(ACCEPT) || accepts(headers, &ranges)
}

/// Returns whether the client names one of these media ranges.
fn accepts(headers: &HeaderMap, ranges: &[&str]) -> bool {
    let is_one = |range: &str| {
        let essence = range.split(';').next().unwrap_or_default().trim();
        ranges.iter().any(|fits| essence.eq_ignore_ascii_case(fits))
    };
    let lines = headers.get_all(ACCEPT).iter();
    lines
        .filter_map(|line| line.to_str().ok())
        .any(|line| line.split(',').any(is_one))
}

/// Returns an error that belongs to no request of the client.
fn error(status: StatusCode, problem: &Problem) -> Response {
    json(status, Body::from(refusal(&Id::null(), problem)))
}

fn json(status: StatusCode, body: Body) -> Response {
    respond_as("application/json", status, body)
}

fn respond_as(media_type: &'static str, status: StatusCode, body: Body) -> Response {
    let mut response = respond(status, body);
    let media_type = HeaderValue::from_static(media_type);
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

fn respond(status: StatusCode, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_accepted_unless_excluded() {
        let accepts = |lines: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(ACCEPT, HeaderValue::from_static(line));
            }
            accepts_json(&headers)
        };
        assert!(accepts(&[]) && accepts(&["*/*"]) && accepts(&["application/json"]));
        assert!(accepts(&["application/json, text/event-stream"]));
        assert!(accepts(&["text/event-stream", "Application/JSON;q=0.9"]));
        assert!(!accepts(&["text/event-stream"]) && !accepts(&["text/html"]) && !accepts(&[""]));
    }
}
