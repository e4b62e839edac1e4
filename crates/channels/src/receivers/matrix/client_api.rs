//! Requests to the homeserver, including those for new events and for the user ID of the bot.

use super::{LIMITS, NOUN, RECEIVER, TIMELINE};
use crate::error::Failure;
use crate::receive::ReceiveError;
use crate::receivers::Source;
use crate::vendor::{Answer, call, call_within, join};
use gatehouse_outbound::AddressSource;
use reqwest::{Method, RequestBuilder};
use serde_json::json;

pub(super) fn not_matrix() -> Failure {
    Failure::later(
        "The server at the homeserver's address is not a Matrix server, or its answer is too large.",
    )
}

/// Creates a request below `/_matrix/client/v3`.
pub(super) fn request(
    source: Source<'_>,
    method: Method,
    path: &[&str],
) -> Result<RequestBuilder, Failure> {
    request_below(source, "v3", method, path)
}

/// Creates a request below `/_matrix/client` and a version.
pub(super) fn request_below(
    source: Source<'_>,
    version: &str,
    method: Method,
    path: &[&str],
) -> Result<RequestBuilder, Failure> {
    request_at(source, &["client", version], method, path)
}

/// Creates a request below `/_matrix/media/v3`.
pub(super) fn request_media(
    source: Source<'_>,
    method: Method,
    path: &[&str],
) -> Result<RequestBuilder, Failure> {
    request_at(source, &["media", "v3"], method, path)
}

fn request_at(
    source: Source<'_>,
    below: &[&str],
    method: Method,
    path: &[&str],
) -> Result<RequestBuilder, Failure> {
    let base = source
        .field("homeserver")
        .ok_or_else(|| Failure::incomplete("homeserver", "the channel has none"))?;
    let url = join(base, &[&["_matrix"], below, path].concat())?;
    let client = source.inner.outbound.client(AddressSource::Owner);
    let token = source.need_secret("access_token")?;
    Ok(client.request(method, url).bearer_auth(token))
}

pub(super) async fn send(source: Source<'_>, request: RequestBuilder) -> Result<Answer, Failure> {
    let inner = source.inner;
    call(&inner.outbound, &*inner.clock, NOUN, request).await
}

pub(super) async fn whoami(source: Source<'_>) -> Result<Answer, Failure> {
    send(
        source,
        request(source, Method::GET, &["account", "whoami"])?,
    )
    .await
}

/// Returns the bot's user ID, which is requested only once.
pub(super) async fn source_user(source: Source<'_>) -> Result<String, Failure> {
    RECEIVER.own_id(source).await
}

/// Returns the bot's user ID.
pub(super) async fn own_id(source: Source<'_>) -> Result<String, ReceiveError> {
    let answer = whoami(source).await?;
    check(&answer)?;
    match answer.response_json().text("/user_id") {
        "" => Err(not_matrix().into()),
        user => Ok(user.to_owned()),
    }
}

pub(super) async fn ask(
    source: Source<'_>,
    since: Option<&str>,
    (events, poll_ms): (u32, &str),
) -> Result<Answer, Failure> {
    let filter = json!({
        "presence": { "not_types": ["*"] },
        "account_data": { "not_types": ["*"] },
        "room": {
            "account_data": { "not_types": ["*"] },
            "ephemeral": { "not_types": ["*"] },
            "state": { "not_types": ["*"] },
            "timeline": { "types": TIMELINE, "limit": events },
        },
    });
    let filter = filter.to_string();
    let mut query = vec![("filter", filter.as_str()), ("set_presence", "offline")];
    match since {
        Some(since) => query.extend([("since", since), ("timeout", poll_ms)]),
        None => query.push(("timeout", "0")),
    }
    let request = request(source, Method::GET, &["sync"])?.query(&query);
    let inner = source.inner;
    call_within(&inner.outbound, &*inner.clock, NOUN, request, LIMITS).await
}

pub(super) fn check(answer: &Answer) -> Result<(), ReceiveError> {
    if answer.status.is_success() {
        return Ok(());
    }
    let body = answer.response_json();
    match body.text("/errcode") {
        "M_UNKNOWN_TOKEN" | "M_MISSING_TOKEN" | "M_USER_DEACTIVATED" => {
            Err(ReceiveError::Stopped {
                why: "Matrix refused the access token. Enter the current one.".to_owned(),
            })
        }
        "M_LIMIT_EXCEEDED" => Err(answer
            .later(NOUN, body.milliseconds("/retry_after_ms"))
            .into()),
        _ => Ok(answer.check(NOUN, body.milliseconds("/retry_after_ms"))?),
    }
}
