//! Runs a delivery once: an agent's turn, or a text sent to a channel. Returns the outcome and whether to
//! retry; the worker records it.

use crate::delivery::ResponseAction;
use crate::handle::Inner;
use crate::message::{self, MessageInput};
use crate::record::Snapshot;
use gatehouse_agents::{Action, AgentsError, Origin, SendRequest, Stop, Target, TurnReport};
use gatehouse_channels::{Markup, OfDelivery, Outgoing, PreparedInbox, SendError};
use gatehouse_domain::{Actor, ErrorCode, Problem, SessionId};
use gatehouse_sources::payload::Payload;
use gatehouse_sources::{summary, template};
use gatehouse_store::DeliveryWork;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What a run produced, whatever its outcome.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) session: Option<SessionId>,
    /// Input and output tokens.
    pub(crate) tokens: Option<(u64, u64)>,
    pub(crate) actions: Vec<ResponseAction>,
    /// How long the agent worked, if one ran.
    pub(crate) agent_ms: Option<u64>,
    /// The message for the inbox. It is stored in the same transaction as the outcome.
    pub(crate) inbox: Option<PreparedInbox>,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    Completed(Trace),
    /// Failed permanently, with the reason.
    Failed(Trace, String),
    /// Failed, but a retry may succeed: the reason, and the minimum delay.
    Retry(Trace, String, Option<Duration>),
    /// A provider asked for this delay. It uses up no attempt: the delivery did not fail. Contains the reason.
    Wait(Trace, String, Duration),
    /// The channel did not respond; retry later. Contains the reason.
    Unreachable(String),
    /// The channel is disabled and nothing was sent. Contains the reason.
    Disabled(String),
    /// The run needs a secret, and the vault is sealed.
    Sealed(Trace),
    /// A stop signal interrupted the run.
    Interrupted {
        /// Whether something may have been sent.
        began: bool,
    },
}

/// The signals that can stop a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stops<'a> {
    /// Stops this run: the delivery was cancelled, its webhook was deleted, its lease was lost, or the
    /// drain time is over.
    pub(crate) run: &'a CancellationToken,
    /// Gatehouse is shutting down. The run continues, but the agents crate may end its turn.
    pub(crate) house: &'a CancellationToken,
}

impl Stops<'_> {
    fn is_any(self) -> bool {
        self.run.is_cancelled() || self.house.is_cancelled()
    }
}

pub(crate) async fn run(
    inner: &Inner,
    work: &DeliveryWork,
    snapshot: &Snapshot,
    stops: Stops<'_>,
) -> Outcome {
    let Some(payload) = work
        .payload
        .as_deref()
        .and_then(|text| Payload::from_json(text).ok())
    else {
        let why = "The stored payload cannot be read any more.".to_owned();
        return Outcome::Failed(Trace::default(), why);
    };
    if snapshot.config.deliver_only {
        deliver(inner, work, snapshot, &payload, stops.run).await
    } else {
        ask_agent(inner, work, snapshot, &payload, stops).await
    }
}

/// Renders the template and sends the text to the channel.
async fn deliver(
    inner: &Inner,
    work: &DeliveryWork,
    snapshot: &Snapshot,
    payload: &Payload,
    cancel: &CancellationToken,
) -> Outcome {
    let config = &snapshot.config;
    let target = config.target();
    let extra = rendered_extra(config.deliver_extra.as_ref(), payload);
    let markup = inner.channels.markup(target, &extra).await;
    let text = template::render(config.template(), payload, &|value| markup.escape(value));
    let message = Outgoing {
        target,
        text: &text,
        extra: &extra,
        source: &snapshot.name,
        at: work.row.received_at,
        delivery: Some(OfDelivery {
            webhook_id: &work.row.webhook_id,
            delivery_id: &work.row.id,
        }),
    };
    match inner.channels.prepare_inbox(&message).await {
        Ok(None) => {}
        Ok(inbox) => {
            return Outcome::Completed(Trace {
                inbox,
                ..Trace::default()
            });
        }
        Err(_) => {
            let why = "The database could not be used when the message was to be written.";
            return Outcome::Retry(Trace::default(), why.to_owned(), None);
        }
    }
    let send = inner.channels.send(message);
    match cancel.run_until_cancelled(send).await {
        None => Outcome::Interrupted { began: true },
        Some(Ok(())) => Outcome::Completed(Trace::default()),
        Some(Err(SendError::Retry { after, why })) => Outcome::Retry(Trace::default(), why, after),
        Some(Err(SendError::Unreachable { why })) => Outcome::Unreachable(why),
        Some(Err(SendError::Disabled { why })) => Outcome::Disabled(why),
        Some(Err(SendError::GiveUp { why })) => Outcome::Failed(Trace::default(), why),
        Some(Err(SendError::Sealed)) => Outcome::Sealed(Trace::default()),
    }
}

/// Renders the extra fields. They are addresses and names, so they need no markup escaping.
fn rendered_extra(
    extra: Option<&BTreeMap<String, String>>,
    payload: &Payload,
) -> BTreeMap<String, String> {
    let fields = extra.into_iter().flatten();
    fields
        .map(|(name, value)| {
            let rendered = template::render(value, payload, &|value| Markup::None.escape(value));
            (name.clone(), rendered)
        })
        .collect()
}

/// Sends the delivery to the agent and waits for the turn to end. A sender's test of the connection is complete
/// without an agent.
async fn ask_agent(
    inner: &Inner,
    work: &DeliveryWork,
    snapshot: &Snapshot,
    payload: &Payload,
    stops: Stops<'_>,
) -> Outcome {
    let config = &snapshot.config;
    let event = work.row.event_type.as_deref();
    if event.is_some_and(|event| config.profile().test_events.contains(&event)) {
        return Outcome::Completed(Trace::default());
    }
    let summary = summary::summarise(config.profile(), event, payload);
    let text = message::compose(MessageInput {
        name: &snapshot.name,
        public_id: &snapshot.public_id,
        source: &config.source_profile,
        event,
        delivery_id: work.row.id.as_str(),
        received_at: work.row.received_at,
        summary: &summary,
    });
    let turn = inner.agents.send_sync(SendRequest {
        session: Target::Keyed {
            key: work.row.session_key.clone(),
            label: work.row.session_key.clone(),
        },
        text,
        audio: None,
        agent: config.agent.clone(),
        model: config.model.clone(),
        system_suffix: config.system_prompt_suffix.clone(),
        origin: Origin::Webhook {
            policy: config.tool_policy.clone(),
            delivery: work.row.id.clone(),
        },
        actor: Actor {
            name: format!("webhook {}", snapshot.public_id),
            ..Actor::system()
        },
        cancel: stops.run.clone(),
    });
    match turn.await {
        Ok(report) => after_turn(report, stops, inner.settings.load().retry_agent_errors),
        Err(error) => no_turn(error, stops),
    }
}

fn after_turn(report: TurnReport, stops: Stops<'_>, retry_errors: bool) -> Outcome {
    let lack = lack_of(&report);
    let trace = Trace {
        tokens: Some((report.usage.input_tokens, report.usage.output_tokens)),
        actions: report.actions.into_iter().map(response_action).collect(),
        session: Some(report.session),
        agent_ms: Some(report.duration_ms),
        inbox: None,
    };
    if report.cancelled && stops.is_any() {
        // A webhook's tools are read-only, so nothing was sent.
        return Outcome::Interrupted { began: false };
    }
    if report.cancelled {
        return Outcome::Failed(trace, "Somebody stopped the agent's turn.".to_owned());
    }
    let asked = report.error.as_ref().and_then(asked_wait);
    match report.error {
        None => match lack {
            None => Outcome::Completed(trace),
            Some(why) => Outcome::Failed(trace, why.to_owned()),
        },
        Some(problem) if problem.code == ErrorCode::VaultSealed => Outcome::Sealed(trace),
        Some(problem) if let Some(asked) = asked => Outcome::Wait(trace, problem.message, asked),
        // The agent did not fail, and a webhook's tools are read-only.
        Some(problem) if retry_errors || problem.code == ErrorCode::StorageUnavailable => {
            Outcome::Retry(trace, problem.message, None)
        }
        Some(problem) => Outcome::Failed(trace, problem.message),
    }
}

/// The delay that the model's provider asked for when it limited the rate. Exhausted credit comes with a delay,
/// too, but is no reason to wait silently.
fn asked_wait(problem: &Problem) -> Option<Duration> {
    let reason = problem.details.get("reason")?.as_str()?;
    if !matches!(reason, "rate_limited" | "overloaded") {
        return None;
    }
    let seconds = problem.details.get("retry_after_seconds")?.as_u64()?;
    Some(Duration::from_secs(seconds))
}

/// Why a turn that ended regularly has no answer.
fn lack_of(report: &TurnReport) -> Option<&'static str> {
    match report.stop {
        Stop::Refused => Some("The model refused to answer."),
        Stop::Filtered => Some("The content filter of the model provider removed the answer."),
        _ if !report.has_answer => Some("The answer of the agent is empty."),
        _ => None,
    }
}

fn no_turn(error: AgentsError, stops: Stops<'_>) -> Outcome {
    let trace = Trace::default();
    match error {
        _ if stops.is_any() => Outcome::Interrupted { began: false },
        AgentsError::Sealed => Outcome::Sealed(trace),
        AgentsError::ShuttingDown => {
            let why = "The agents' part of Gatehouse took no turn.".to_owned();
            Outcome::Retry(trace, why, None)
        }
        AgentsError::NotFound("agent") | AgentsError::Invalid { field: "agent", .. } => {
            Outcome::Failed(
            trace,
            "The agent of this webhook no longer exists. Choose another one for the webhook, then \
             replay the delivery."
                .to_owned(),
            )
        }
        AgentsError::TooManyWaiting => {
            let why = "Too many turns wait in the session of this delivery.".to_owned();
            Outcome::Retry(trace, why, None)
        }
        AgentsError::Store(error) if error.is_unavailable() => {
            let why = "The database could not be used when the agent was to begin.".to_owned();
            Outcome::Retry(trace, why, None)
        }
        other => Outcome::Failed(trace, Problem::from(other).message),
    }
}

fn response_action(action: Action) -> ResponseAction {
    ResponseAction {
        tool: action.tool,
        status: action.status.as_str().to_owned(),
        at: action.at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_agents::Usage;
    use gatehouse_domain::TurnId;

    fn ended_with(problem: Problem) -> Outcome {
        let report = TurnReport {
            session: SessionId::from_text("ses_1"),
            session_key: String::new(),
            turn_id: TurnId::from_text("turn_1"),
            text: String::new(),
            stop: Stop::Error,
            has_answer: false,
            audio: None,
            audio_error: None,
            usage: Usage::default(),
            duration_ms: 0,
            actions: Vec::new(),
            error: Some(problem),
            cancelled: false,
        };
        let running = CancellationToken::new();
        let stops = Stops {
            run: &running,
            house: &running,
        };
        after_turn(report, stops, false)
    }

    #[test]
    fn a_turn_that_the_database_interrupted_is_retried_and_one_that_the_model_refused_is_not() {
        let database = Problem::new(
            ErrorCode::StorageUnavailable,
            "The database is unavailable.",
        );
        assert!(matches!(ended_with(database), Outcome::Retry(..)));
        let model = Problem::new(ErrorCode::Internal, "The model refused.");
        assert!(matches!(ended_with(model), Outcome::Failed(..)));
    }
}
