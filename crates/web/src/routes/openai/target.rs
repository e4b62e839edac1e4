//! Starts the answer of a conversation: `model` names an agent or the model of a provider.

use crate::app::App;
use crate::respond::not_authenticated;
use crate::while_live::Credential;
use futures_util::StreamExt;
use gatehouse_agents::{AgentsError, AnswerStream, EarlierMessage, ModelCall, OneOffRequest};
use gatehouse_domain::{Actor, ErrorCode, Problem};
use gatehouse_models::{ChatMessage, ChatRequest};
use gatehouse_services::to_problem;
use std::pin::Pin;
use std::time::Duration;

/// The provider part of an agent's name.
pub(super) const AGENT: &str = "agent";
/// How long a streamed response waits for the first piece. A failure within this time has its own HTTP status.
const FIRST_PIECE: Duration = Duration::from_secs(5);

/// Returns the error for a `model` that names nothing.
pub(super) fn unknown_model() -> Problem {
    let message = "The model does not exist. Models are `agent/<id>` and `provider/model`.";
    Problem::new(ErrorCode::NotFound, message).with("field", "model")
}

/// Answers a conversation. Fails if the answer cannot begin. Pass the answer to [`streamed`] or [`whole`].
pub(super) async fn answer(
    app: &App,
    model: &str,
    request: ChatRequest,
    actor: Actor,
) -> Result<AnswerStream, Problem> {
    let parts = model.split_once('/');
    let parts = parts.filter(|(owner, name)| !owner.is_empty() && !name.is_empty());
    let (owner, name) = parts.ok_or_else(unknown_model)?;
    let agents = &app.services().agents;
    if owner == AGENT {
        match agents.get_agent(name).await {
            Ok(_) => {}
            Err(AgentsError::NotFound(_)) => return Err(unknown_model()),
            Err(error) => return Err(to_problem(error)),
        }
        let once = one_off(name, request, actor)?;
        return agents.run_once(once).await.map_err(named);
    }
    let call = ModelCall {
        provider: owner.to_owned(),
        model: name.to_owned(),
        request,
        actor,
    };
    agents.call_model(call).await.map_err(|error| {
        let problem = to_problem(error);
        if problem.code == ErrorCode::NotFound {
            unknown_model()
        } else {
            problem
        }
    })
}

/// Wraps the answer of a response that is sent as a whole. When the credential of the request ends, the work stops, and
/// the answer ends with an error. Confirm the credential before sending the response.
pub(super) fn whole(answer: AnswerStream, credential: &Credential) -> AnswerStream {
    credential.limit_work(answer, not_authenticated)
}

/// Wraps the answer of a streamed response. When the credential of the request ends, the work stops, and the answer
/// ends with an error. Waits up to [`FIRST_PIECE`] for the first piece, and fails if it is an error.
pub(super) async fn streamed(
    answer: AnswerStream,
    credential: Credential,
) -> Result<AnswerStream, Problem> {
    let mut answer = credential.limit(answer, not_authenticated).peekable();
    let first = tokio::time::timeout(FIRST_PIECE, Pin::new(&mut answer).peek()).await;
    match first {
        Ok(Some(Err(problem))) => Err(problem.clone()),
        _ => Ok(answer.boxed()),
    }
}

/// Returns the conversation in the form that an agent accepts. The agent uses its own tools and
/// settings.
fn one_off(agent: &str, request: ChatRequest, actor: Actor) -> Result<OneOffRequest, Problem> {
    if !request.tools.is_empty() {
        let reason = "an agent uses its own tools; offer yours to a `provider/model`";
        return Err(Problem::invalid_params("tools", reason));
    }
    if request.response_format.is_some() {
        let reason = "an agent has no such format; ask for it in the prompt";
        return Err(Problem::invalid_params("response_format", reason));
    }
    let mut messages = request.messages;
    let Some(ChatMessage::User { text, .. }) = messages.pop() else {
        let reason = "the last message must have the role `user`";
        return Err(Problem::invalid_params("messages", reason));
    };
    let earlier = messages.into_iter().map(|message| match message {
        ChatMessage::User { text, .. } => Ok(EarlierMessage::User(text)),
        ChatMessage::Assistant {
            text, tool_calls, ..
        } if tool_calls.is_empty() => Ok(EarlierMessage::Assistant(text)),
        ChatMessage::Assistant { .. } | ChatMessage::Tool { .. } => {
            let reason = "an agent accepts no tool calls and no tool results";
            Err(Problem::invalid_params("messages", reason))
        }
    });
    Ok(OneOffRequest {
        agent: agent.to_owned(),
        earlier: earlier.collect::<Result<_, _>>()?,
        text,
        system: request.system,
        actor,
    })
}

/// Converts a failure. Errors use the caller's names of the fields.
fn named(error: AgentsError) -> Problem {
    to_problem(match error {
        AgentsError::Invalid {
            field: "text",
            reason,
        } => AgentsError::Invalid {
            field: "messages",
            reason,
        },
        error => error,
    })
}
