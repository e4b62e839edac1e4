//! `chat.*`: messages to agents, and the history of a session.

mod history;

use crate::method_entry::{Audit, Call, DONE, Done, Method, method};
use gatehouse_agents::{Failure, SendRequest, Sent, Stop, Target, Usage};
use gatehouse_domain::id::{SessionId, TurnId};
use gatehouse_domain::{Problem, Scope, input};
use gatehouse_services::to_problem;
pub use history::{HISTORY, HistoryParams, HistoryResult, messages};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const SEND: Method = method!(
    "chat.send",
    "Sends a text to an agent. The answer arrives as `chat.*` events.",
    Some(Scope::Write),
    send(SendParams) -> Sent,
    long_params: true,
    order: Answered,
    errors: [NotFound, Conflict, BudgetExhausted],
    audit: Audit::Unrecorded("conversation")
);

pub const SEND_SYNC: Method = method!(
    "chat.send_sync",
    "Sends a text to an agent and waits for its answer.",
    Some(Scope::Write),
    send_sync(SendParams) -> Answer,
    long_params: true,
    order: Accepted,
    errors: [NotFound, Conflict, NotConfigured, ProviderFailed, BudgetExhausted, Timeout, VaultSealed],
    audit: Audit::Unrecorded("conversation")
);

pub const ABORT: Method = method!(
    "chat.abort",
    "Stops the running turn of a session. Messages so far are kept, and waiting turns continue.",
    Some(Scope::Write),
    abort(SessionParams) -> Done,
    errors: [NotFound],
    audit: Audit::Unrecorded("conversation")
);

pub const DELETE: Method = method!(
    "chat.delete",
    "Deletes a turn of a session: the text and all answers to it.",
    Some(Scope::Write),
    delete(DeleteParams) -> Done,
    errors: [NotFound, Conflict],
    audit: Audit::Unrecorded("conversation")
);

/// Params of `chat.send` and `chat.send_sync`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendParams {
    /// The session's ID or key. Each text without it begins a new session: to send several texts to one new session
    /// without waiting, create it with `sessions.create`.
    session: Option<String>,
    /// The text, at most 1 MiB. It may be empty if there are attachments.
    text: String,
    /// The IDs of at most 10 files of the session: `id` of `POST /api/sessions/{id}/attachments`.
    #[serde(default, deserialize_with = "input::or_default")]
    attachments: Vec<String>,
    /// The ID of the recording, when the text was spoken: `audio_id` of `POST /api/sessions/{id}/audio`.
    audio_id: Option<String>,
    /// The agent that answers from now on.
    agent: Option<String>,
    /// The model for this answer only: a name, or `provider/model`.
    model: Option<String>,
    /// A turn of the session. It and all later turns are deleted first; they must have ended.
    replaces: Option<String>,
}

/// Result of `chat.send_sync`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The session's ID.
    pub session: SessionId,
    /// The session's key.
    pub session_key: String,
    /// The turn's ID.
    pub turn_id: TurnId,
    pub text: String,
    /// Why the answer ended.
    pub stop: Stop,
    /// The ID of the spoken answer, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<String>,
    /// Why speaking the answer failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio_error: Option<Failure>,
    /// The tokens of all model calls in the turn.
    pub usage: Usage,
    /// The duration of the turn in milliseconds.
    pub duration_ms: u64,
}

/// Params that name a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionParams {
    /// The session's ID or key.
    session: String,
}

/// Params of `chat.delete`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteParams {
    /// The session's ID or key.
    session: String,
    /// The turn's ID.
    turn_id: String,
}

fn request(call: &Call, params: SendParams) -> SendRequest {
    SendRequest {
        session: params.session.map_or(Target::New, Target::Existing),
        audio: params.audio_id,
        attachments: params.attachments,
        new_files: Vec::new(),
        agent: params.agent,
        model: params.model,
        replaces: params.replaces,
        cancel: call.cancel.clone(),
        ..SendRequest::new(params.text, call.actor())
    }
}

async fn send(call: Call, params: SendParams) -> Result<Sent, Problem> {
    let request = request(&call, params);
    call.services.agents.send(request).await.map_err(to_problem)
}

async fn send_sync(mut call: Call, params: SendParams) -> Result<Answer, Problem> {
    let request = request(&call, params);
    let ended = call
        .services
        .agents
        .send_reported(request)
        .await
        .map_err(to_problem)?;
    call.accepted();
    let report = ended.await.map_err(to_problem)?;
    match report.error {
        // The text is stored despite the error, so the error contains the place.
        Some(problem) => Err(problem
            .with("session", report.session.as_str())
            .with("turn_id", report.turn_id.as_str())),
        None => Ok(Answer {
            session: report.session,
            session_key: report.session_key,
            turn_id: report.turn_id,
            text: report.text,
            stop: report.stop,
            audio: report.audio,
            audio_error: report.audio_error.map(Failure),
            usage: report.usage,
            duration_ms: report.duration_ms,
        }),
    }
}

async fn abort(call: Call, params: SessionParams) -> Result<Done, Problem> {
    let agents = &call.services.agents;
    agents.abort(&params.session).await.map_err(to_problem)?;
    Ok(DONE)
}

async fn delete(call: Call, params: DeleteParams) -> Result<Done, Problem> {
    let agents = &call.services.agents;
    let deleted = agents.delete_turn(&params.session, &params.turn_id).await;
    deleted.map_err(to_problem)?;
    Ok(DONE)
}
