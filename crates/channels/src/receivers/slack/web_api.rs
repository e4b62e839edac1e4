//! Requests to Slack's Web API.

use super::{LIMITS, NOUN};
use crate::error::Failure;
use crate::receive::ReceiveError;
use crate::receivers::Source;
use crate::vendor::{Answer, Limits, ResponseJson, call_within, join_default};
use crate::vendor_apis::slack::BASE_URL;
use gatehouse_outbound::AddressSource;

/// Errors after which no request with the same token can succeed
/// (<https://docs.slack.dev/reference/methods/apps.connections.open>).
const REFUSED: [&str; 10] = [
    "invalid_auth",
    "not_authed",
    "account_inactive",
    "token_revoked",
    "token_expired",
    "not_allowed_token_type",
    "missing_scope",
    "no_permission",
    "ekm_access_denied",
    "forbidden_team",
];

pub(super) fn not_slack() -> Failure {
    Failure::later("The server at Slack's address is not Slack.")
}

/// Calls a method of the Web API with one of the account's tokens.
pub(super) async fn call(
    source: Source<'_>,
    method: &str,
    token: &'static str,
    form: &[(&str, &str)],
) -> Result<ResponseJson, ReceiveError> {
    let (answer, body) = ask(source, method, token, form, LIMITS).await?;
    if body.is_true("/ok") {
        return Ok(body);
    }
    match body.text("/error") {
        code if REFUSED.contains(&code) => {
            let which = match token {
                "app_token" => "app-level token",
                _ => "bot token",
            };
            let why = format!("Slack refused the {which} ({code}). Check it and its scopes.");
            Err(ReceiveError::Stopped { why })
        }
        "ratelimited" => Err(answer.later(NOUN, None).into()),
        "" => Err(not_slack().into()),
        _ => Err(Failure::later(refused(method)).into()),
    }
}

/// Returns the reason if Slack refuses a method with an unknown error.
pub(super) fn refused(method: &str) -> String {
    format!("Slack refused `{method}`.")
}

/// Calls a method of the Web API. A refusal is also returned as an answer: its status is 200, and `ok` is false.
pub(super) async fn ask(
    source: Source<'_>,
    method: &str,
    token: &'static str,
    form: &[(&str, &str)],
    limits: Limits,
) -> Result<(Answer, ResponseJson), Failure> {
    let inner = source.inner;
    let base = source.field("base_url").unwrap_or(BASE_URL);
    let url = join_default(base, &["api"], &[method])?;
    let request = inner.outbound.client(AddressSource::Owner).post(url);
    let request = request.bearer_auth(source.need_secret(token)?).form(form);
    let answer = call_within(&inner.outbound, &*inner.clock, NOUN, request, limits).await?;
    answer.check(NOUN, None)?;
    let body = answer.response_json();
    Ok((answer, body))
}

/// Returns the bot's user ID.
pub(super) async fn own_id(source: Source<'_>) -> Result<String, ReceiveError> {
    let me = call(source, "auth.test", "bot_token", &[]).await?;
    match me.text("/user_id") {
        "" => Err(not_slack().into()),
        id => Ok(id.to_owned()),
    }
}
