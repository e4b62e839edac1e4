//! `/api/sessions/{id}/attachments`: the files of a session. Stores an uploaded file, and returns it.

use crate::app::App;
use crate::body::{self, Requester};
use crate::respond::{Refusal, json, unreadable_query};
use crate::while_live::Credential;
use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, Request, State};
use axum::response::Response;
use futures_util::TryStreamExt;
use gatehouse_agents::{AgentsError, Attachment, Session};
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_rpc::method_entry::DONE;
use gatehouse_services::to_problem;
use http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
};
use http::{HeaderMap, HeaderValue, Method};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use schemars::JsonSchema;

/// A file may be private, so no cache may keep it.
const NO_STORE: HeaderValue = HeaderValue::from_static("private, no-store");
/// A browser that displays the file executes nothing in it and loads nothing for it.
const POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; sandbox; frame-ancestors 'none'");
/// Types that browsers may display. All others are only downloaded.
const DISPLAYED: [&str; 3] = ["image/jpeg", "image/png", "image/webp"];
/// The characters that RFC 8187 allows in an extended value without encoding.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

type Pairs = Result<Query<Vec<(String, String)>>, QueryRejection>;

/// The file itself. The query parameter `name` is its name.
#[derive(JsonSchema)]
#[schemars(transparent)]
#[expect(dead_code, reason = "only its schema is used")]
pub(in crate::routes) struct FileBody(#[schemars(extend("format" = "binary"))] String);

async fn session(app: &App, id: &str) -> Result<Session, Problem> {
    let session = app.services().agents.get_session(id).await;
    session.map_err(to_problem)
}

pub(in crate::routes) async fn post(
    State(app): State<App>,
    id: Result<Path<String>, PathRejection>,
    query: Pairs,
    request: Request,
) -> Result<Response, Refusal> {
    let Path(id) = id.map_err(|_| Problem::not_found("session"))?;
    let session = session(&app, &id).await?;
    let name = name(query)?;
    let (parts, body) = request.into_parts();
    refuse_form(&parts.headers)?;
    let agents = &app.services().agents;
    let max_bytes = usize::try_from(agents.attachment_max_bytes()).unwrap_or(usize::MAX);
    let data = body::read(body, max_bytes, body::share(&app, &parts)?).await;
    let data = data.map_err(|problem| match problem.code {
        ErrorCode::PayloadTooLarge => to_problem(AgentsError::FileTooLarge(max_bytes as u64)),
        _ => problem,
    })?;
    let file = app.services().tools.read_file(name, data).await;
    let stored = agents.add_attachment(&session.id, file.map_err(to_problem)?);
    Ok(json(&stored.await.map_err(to_problem)?))
}

/// Refuses a form, because the endpoint stores the whole body as the file, including the separators of a form.
fn refuse_form(headers: &HeaderMap) -> Result<(), Problem> {
    let given = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let is_form = given.is_some_and(|given| {
        let given = given.trim_start().to_ascii_lowercase();
        given.starts_with("multipart/") || given.starts_with("application/x-www-form-urlencoded")
    });
    if !is_form {
        return Ok(());
    }
    let message = "Send the file itself as the body, with its name as the query parameter `name`.";
    Err(Problem::new(ErrorCode::UnsupportedMediaType, message))
}

fn name(query: Pairs) -> Result<String, Problem> {
    let Query(pairs) = query.map_err(|_| unreadable_query())?;
    let mut name = None;
    for (field, value) in pairs {
        if field != "name" {
            return Err(Problem::invalid_params(&field, "unknown field"));
        }
        if name.replace(value).is_some() {
            return Err(Problem::invalid_params(&field, "given twice"));
        }
    }
    name.ok_or_else(|| Problem::invalid_params("name", "required"))
}

type Ids = Result<Path<(String, String)>, PathRejection>;

pub(in crate::routes) async fn get(
    State(app): State<App>,
    ids: Ids,
    method: Method,
    requester: Requester,
) -> Result<Response, Refusal> {
    let credential = Credential::of_context(&app, &requester.context)?;
    let Path((id, attachment)) = ids.map_err(|_| Problem::not_found("attachment"))?;
    let session = session(&app, &id).await?;
    let agents = &app.services().agents;
    let file = agents.get_attachment(&session.id, &attachment).await;
    let file = file.map_err(to_problem)?;
    let body = if method == Method::HEAD {
        Body::empty()
    } else {
        let pieces = agents.read_attachment(&file).inspect_err(|error| {
            tracing::warn!(%error, "a file was not sent completely");
        });
        credential.body(pieces)
    };
    Ok(described(Response::new(body), &file))
}

fn described(mut response: Response, file: &Attachment) -> Response {
    let headers = response.headers_mut();
    let kind = if DISPLAYED.contains(&file.media_type.as_str()) {
        "inline"
    } else {
        "attachment"
    };
    let name = utf8_percent_encode(&file.name, ENCODED);
    let disposition = format!("{kind}; filename*=UTF-8''{name}");
    if let Ok(value) = HeaderValue::from_str(&disposition) {
        headers.insert(CONTENT_DISPOSITION, value);
    }
    // The type comes from a fixed list without HTML, SVG and scripts.
    let media_type = match file.media_type.as_str() {
        "text/plain" => HeaderValue::from_static("text/plain; charset=utf-8"),
        other => HeaderValue::from_str(other)
            .unwrap_or(HeaderValue::from_static("application/octet-stream")),
    };
    headers.insert(CONTENT_TYPE, media_type);
    headers.insert(CONTENT_LENGTH, HeaderValue::from(file.size));
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(CACHE_CONTROL, NO_STORE);
    response
}

pub(in crate::routes) async fn delete(
    State(app): State<App>,
    ids: Ids,
) -> Result<Response, Refusal> {
    let Path((id, attachment)) = ids.map_err(|_| Problem::not_found("attachment"))?;
    let session = session(&app, &id).await?;
    let agents = &app.services().agents;
    let deleted = agents.delete_attachment(&session.id, &attachment).await;
    deleted.map_err(to_problem)?;
    Ok(json(&DONE))
}
