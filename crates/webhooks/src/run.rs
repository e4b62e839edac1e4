//! Runs a delivery once: an agent's turn, or a text sent to a channel ([`crate::sending`]). Returns the outcome,
//! and whether to retry. The worker records the outcome.

pub(crate) mod outcome;
mod payload_files;
mod problems;

use outcome::MAX_OUTCOME_CHARS;
pub(crate) use outcome::{Outcome, Trace};
pub use payload_files::ReadFile;

use crate::delivery::ResponseAction;
use crate::handle::Inner;
use crate::message::{self, MessageInput};
use crate::replay::has_edited_payload;
use crate::sending;
use crate::tool::CHANNEL_SEND;
use crate::webhook::Snapshot;
use gatehouse_agents::{
    Action, ActionStatus, MessageOrigin, Origin, SendRequest, Target, TurnReport,
};
use gatehouse_domain::{Actor, ErrorCode};
use gatehouse_sources::payload::Payload;
use gatehouse_sources::summary;
use gatehouse_store::DeliveryWork;
use payload_files::PayloadFiles;
use problems::{asked_wait, lack_of, no_turn, resets_at};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Maximum length of the name of a session.
const MAX_LABEL_CHARS: usize = 200;
/// The delay after a rate limit of a provider that does not specify a delay. Limits usually count per minute.
const UNSTATED_WAIT: Duration = Duration::from_mins(1);

/// The signals that can stop a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stops<'a> {
    /// Stops this run: the delivery was canceled, its webhook was deleted, its lease was lost, or the drain time is
    /// over.
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
        let why = "The stored payload can no longer be read.".to_owned();
        return Outcome::Failed(Trace::default(), why);
    };
    // A delivery that already has an answer has the target of its channel.
    let has_target = work.row.target.as_deref().is_some_and(|it| !it.is_empty());
    if snapshot.config.deliver_only || has_target {
        sending::run(inner, work, snapshot, &payload, stops.run).await
    } else {
        ask_agent(inner, work, snapshot, &payload, stops).await
    }
}

/// Sends the delivery to the agent and waits for the turn to end. A delivery that only tests the connection
/// completes without an agent.
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
    let (text, new_files, written_by) = if let Some(schedule) = &config.schedule {
        let text = schedule.message(&snapshot.name, work.row.received_at, payload);
        (text, Vec::new(), MessageOrigin::Configured)
    } else {
        let taking = payload_files::take(inner, payload);
        let taken = stops.run.run_until_cancelled(taking).await;
        // A later attempt would continue the turn with this text, so the text must be complete.
        let Some(PayloadFiles { without, files }) = taken else {
            return Outcome::Interrupted { began: false };
        };
        let payload = without.as_ref().unwrap_or(payload);
        let text = sender_text(work, snapshot, payload);
        (text, files, MessageOrigin::Stranger)
    };
    let turn = inner.agents.send_sync(SendRequest {
        session: Target::Keyed {
            key: work.row.session_key.clone(),
            label: label_of(work),
        },
        text,
        audio: None,
        attachments: Vec::new(),
        new_files,
        agent: config.agent.clone(),
        model: config.model.clone(),
        replaces: None,
        system_suffix: config.system_prompt_suffix.clone(),
        origin: Origin::Webhook {
            policy: config.tool_policy.clone(),
            targets: config.deliver_to.iter().cloned().collect(),
            delivery: work.row.id.clone(),
            written_by,
        },
        actor: Actor {
            name: format!("webhook {}", snapshot.public_id),
            ..Actor::system()
        },
        cancel: stops.run.clone(),
        speech: None,
    });
    match turn.await {
        Ok(report) => {
            let retry_errors = inner.settings.load().section.retry_agent_errors;
            after_turn(report, stops, retry_errors, config.answer_target())
        }
        Err(error) => no_turn(error, stops),
    }
}

/// Returns the message for a delivery of a sender.
fn sender_text(work: &DeliveryWork, snapshot: &Snapshot, payload: &Payload) -> String {
    let event = work.row.event_type.as_deref();
    let summary = summary::summarise(snapshot.config.profile(), event, payload);
    message::compose(MessageInput {
        name: &snapshot.name,
        public_id: &snapshot.public_id,
        source: &snapshot.config.source_profile,
        event,
        delivery_id: work.row.id.as_str(),
        received_at: work.row.received_at,
        is_edited: has_edited_payload(&work.row),
        summary: &summary,
    })
}

/// Returns the name of a new session: the event, or the key of the session if the sender's format is unknown.
fn label_of(work: &DeliveryWork) -> String {
    let summary = work.row.summary.as_deref();
    let label = summary.and_then(|summary| summary::first_words(summary, MAX_LABEL_CHARS));
    label.unwrap_or_else(|| work.row.session_key.clone())
}

fn after_turn(
    report: TurnReport,
    stops: Stops<'_>,
    retry_errors: bool,
    target: Option<&str>,
) -> Outcome {
    let lack = lack_of(&report);
    // `channel_send` is the only tool of a webhook's turn that changes anything. A repeated attempt may send again.
    let is_send =
        |action: &Action| action.tool == CHANNEL_SEND && action.status == ActionStatus::Ok;
    let has_sent = report.actions.iter().any(is_send);
    let trace = Trace {
        tokens: Some((report.usage.input_tokens, report.usage.output_tokens)),
        actions: report.actions.into_iter().map(response_action).collect(),
        session: Some(report.session),
        agent_ms: Some(report.duration_ms),
        outcome: summary::first_words(&report.text, MAX_OUTCOME_CHARS),
        ..Trace::default()
    };
    if report.cancelled && stops.is_any() {
        return Outcome::Interrupted { began: has_sent };
    }
    if report.cancelled {
        return Outcome::Failed(trace, "A person stopped the agent's turn.".to_owned());
    }
    let asked = report.error.as_ref().and_then(asked_wait);
    match report.error {
        None => match (lack, target) {
            (Some(why), _) => Outcome::Failed(trace, why.to_owned()),
            (None, None) => Outcome::Completed(trace),
            (None, Some(target)) => Outcome::Answered {
                trace,
                answer: report.text,
                target: target.to_owned(),
            },
        },
        Some(problem) if problem.code == ErrorCode::VaultSealed => Outcome::Sealed(trace),
        Some(problem) if let Some(resets_at) = resets_at(&problem) => {
            Outcome::Exhausted(trace, resets_at)
        }
        Some(problem) if let Some(asked) = asked => Outcome::Wait(trace, problem.message, asked),
        // The failure was not the agent's, so a retry may succeed.
        Some(problem) if retry_errors || problem.code == ErrorCode::StorageUnavailable => {
            Outcome::Retry(trace, problem.message, None)
        }
        Some(problem) => Outcome::Failed(trace, problem.message),
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
mod tests;
