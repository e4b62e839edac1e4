//! `/api/sessions/{id}/audio`: the audio of a session. Transcribes and stores uploaded recordings, and
//! returns recordings and spoken answers.

use super::form::{self, Fields};
use super::range::{Part, part};
use crate::app::App;
use crate::body::{self, Requester};
use crate::etag;
use crate::respond::{Refusal, json, unreadable_query};
use crate::while_live::Credential;
use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, Request, State};
use axum::response::{IntoResponse, Response};
use futures_util::TryStreamExt;
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_services::to_problem;
use gatehouse_voice::{StoredAudio, TranscribeRequest};
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE,
    ETAG,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use schemars::JsonSchema;
use std::ops::Range;

/// Browsers may cache the audio but must revalidate it. After logout, it cannot be played.
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("private, no-cache");

type Pairs = Result<Query<Vec<(String, String)>>, QueryRejection>;

/// A form with a recording. Alternatively the body is the recording, and the other fields are query
/// parameters.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(in crate::routes) struct AudioForm {
    /// The recording, at most 25 MiB; `audio` is accepted as well.
    #[schemars(extend("format" = "binary"))]
    file: String,
    /// The language, as an ISO 639-1 code.
    language: Option<String>,
    /// The provider's ID or vendor name.
    provider: Option<String>,
    /// Context for the recognition.
    prompt: Option<String>,
}

pub(in crate::routes) async fn post(
    State(app): State<App>,
    id: Result<Path<String>, PathRejection>,
    query: Pairs,
    request: Request,
) -> Result<Response, Refusal> {
    let credential = Credential::of(&app, &request)?;
    let Path(id) = id.map_err(|_| Problem::not_found("session"))?;
    let session = app
        .services()
        .agents
        .get_session(&id)
        .await
        .map_err(to_problem)?;
    let (parts, body) = request.into_parts();
    let share = body::share(&app, &parts)?;
    let mut upload = form::read(&parts, body, share).await?;
    add_query(&mut upload.fields, query)?;
    let mut fields = upload.fields;
    let request = TranscribeRequest {
        format: upload.format.map(str::to_owned),
        language: fields.take("language"),
        provider: fields.take("provider"),
        prompt: fields.take("prompt"),
        ..TranscribeRequest::new(upload.audio)
    };
    fields.finish()?;
    let heard = app.services().voice.hear(&session.id, request).await;
    let heard = heard.map_err(to_problem)?;
    credential.confirm().await?;
    Ok(json(&heard))
}

fn add_query(fields: &mut Fields, query: Pairs) -> Result<(), Problem> {
    let Query(pairs) = query.map_err(|_| unreadable_query())?;
    let mut pairs = pairs.into_iter();
    pairs.try_for_each(|(name, value)| fields.add(name, value))
}

pub(in crate::routes) async fn get(
    State(app): State<App>,
    ids: Result<Path<(String, String)>, PathRejection>,
    method: Method,
    headers: HeaderMap,
    requester: Requester,
) -> Result<Response, Refusal> {
    let credential = Credential::of_context(&app, &requester.context)?;
    // Invalid UTF-8 cannot name a recording.
    let Path((session, audio)) = ids.map_err(|_| Problem::not_found("audio"))?;
    let session = app
        .services()
        .agents
        .get_session(&session)
        .await
        .map_err(to_problem)?;
    let audio = app.services().voice.get_audio(&session.id, &audio).await;
    let audio = audio.map_err(to_problem)?;
    let etag = format!("\"{}\"", audio.id);
    if etag::is_known(&headers, &etag) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Ok(described(response, &audio, &etag));
    }
    let length = usize::try_from(audio.size_bytes).unwrap_or(usize::MAX);
    // HEAD does not support ranges.
    let part = match method {
        Method::GET => part(&headers, length, &etag),
        _ => Part::Whole,
    };
    Ok(match part {
        Part::Whole => {
            let response = match method {
                Method::GET => answer(&app, &audio, 0..length, credential),
                _ => empty(length),
            };
            described(response, &audio, &etag)
        }
        Part::Some(first, last) => {
            let mut response = answer(&app, &audio, first..last.saturating_add(1), credential);
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            let range = format!("bytes {first}-{last}/{length}");
            described(with_range(response, &range), &audio, &etag)
        }
        Part::Nothing => {
            let message = format!("The range is not satisfiable: the audio has {length} bytes.");
            let problem = Problem::new(ErrorCode::InvalidRequest, message);
            let mut response = Refusal(problem).into_response();
            *response.status_mut() = StatusCode::RANGE_NOT_SATISFIABLE;
            with_range(response, &format!("bytes */{length}"))
        }
    })
}

/// Streams a range of the audio. If the audio is deleted or the credential ends during the transfer, the response
/// breaks off, and the caller detects that it is incomplete.
fn answer(app: &App, audio: &StoredAudio, bytes: Range<usize>, credential: Credential) -> Response {
    let number = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let (from, to) = (number(bytes.start), number(bytes.end));
    let pieces = app.services().voice.read_audio(&audio.id, from..to);
    let pieces = pieces.inspect_err(|error| {
        tracing::warn!(%error, "a recording was interrupted");
    });
    let mut response = empty(bytes.len());
    *response.body_mut() = credential.body(pieces);
    response
}

/// Returns an empty body with the content length of the audio.
fn empty(length: usize) -> Response {
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    response
}

fn with_range(mut response: Response, range: &str) -> Response {
    if let Ok(range) = HeaderValue::from_str(range) {
        response.headers_mut().insert(CONTENT_RANGE, range);
    }
    response
}

/// Adds the headers of a full or partial audio response.
fn described(mut response: Response, audio: &StoredAudio, etag: &str) -> Response {
    let headers = response.headers_mut();
    let name = format!("inline; filename=\"{}.{}\"", audio.id, audio.format);
    for (header, value) in [
        (CONTENT_TYPE, audio.mime_type.as_str()),
        (CONTENT_DISPOSITION, &name),
        (ETAG, etag),
    ] {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(header, value);
        }
    }
    headers.insert(CACHE_CONTROL, ASK_AGAIN);
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    response
}
