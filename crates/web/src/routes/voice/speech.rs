//! `POST /api/tts/stream`: converts text like `tts.convert`, but streams the audio as it is
//! generated.

use crate::app::App;
use crate::body::read_large_json;
use crate::respond::Refusal;
use crate::while_live::Credential;
use axum::extract::{Request, State};
use axum::response::Response;
use futures_util::TryStreamExt;
use gatehouse_domain::Problem;
use gatehouse_rpc::methods::tts::ConvertParams;
use gatehouse_services::to_problem;
use gatehouse_voice::{Attempt, Streamed};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};

pub(in crate::routes) async fn post(
    State(app): State<App>,
    request: Request,
) -> Result<Response, Refusal> {
    let credential = Credential::of(&app, &request)?;
    let params: ConvertParams = read_large_json(&app, request).await?;
    let streamed = app.services().voice.stream(params.into()).await;
    Ok(respond(streamed.map_err(to_problem)?, credential)?)
}

/// Builds the response, with a success status, when the first bytes are available. A later failure or the end of the
/// credential breaks off the body, and the client detects that it is incomplete. If the client disconnects, the
/// synthesis stops.
pub(super) fn respond(speech: Streamed, credential: Credential) -> Result<Response, Problem> {
    let facts = facts(&speech)?;
    let provider = speech.provider;
    let body = speech.body.inspect_err(move |error| {
        tracing::warn!(provider = provider.as_str(), %error, "speech was interrupted");
    });
    let mut response = Response::new(credential.body(body));
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static(speech.format.mime_type()),
    );
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.extend(facts);
    Ok(response)
}

/// Returns the response headers that describe the speech.
pub(super) fn facts(speech: &Streamed) -> Result<HeaderMap, Problem> {
    let mut headers = HeaderMap::new();
    let facts = [
        ("x-provider", Some(speech.provider.as_str().to_owned())),
        ("x-format", Some(speech.format.as_str().to_owned())),
        ("x-attempts", Some(attempts(&speech.attempts))),
        ("x-persona", speech.persona.clone()),
        ("x-cached", Some(speech.cached.to_string())),
        ("x-warning", speech.warning.clone()),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            let value = HeaderValue::from_str(&value).map_err(|_| Problem::internal())?;
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    Ok(headers)
}

/// Returns the providers tried and their results, such as
/// `tts_cloud_1=PROVIDER_FAILED, tts_cloud_2=ok`.
fn attempts(attempts: &[Attempt]) -> String {
    let reported = attempts
        .iter()
        .map(|attempt| format!("{}={}", attempt.provider, attempt.code.unwrap_or("ok")));
    reported.collect::<Vec<_>>().join(", ")
}
