//! Stores and reports the end of a turn.

use super::{failure::TurnFailure, running::Running};
use crate::event::{AgentEvent, Answered, Done};
use crate::message::Failure;
use crate::send::TurnReport;
use gatehouse_domain::{ErrorCode, trace::ActiveSpan};
use std::sync::Arc;

/// The maximum length of the answer in a notification.
const ANSWER_CHARS: usize = 200;

impl Running<'_> {
    pub(super) fn end_span(&self, mut span: ActiveSpan) {
        span.set("gen_ai.usage.input_tokens", self.usage.input_tokens);
        span.set("gen_ai.usage.output_tokens", self.usage.output_tokens);
        span.set("gatehouse.turn.tool_calls", self.actions.len());
    }

    /// Records why the turn ended early. The reason is stored, unless the answer is already stored.
    pub(super) async fn fail(&mut self, failure: TurnFailure) {
        self.stop = failure.stop(self.inner.stopping.is_cancelled());
        let is_gone = matches!(failure, TurnFailure::SessionGone);
        let mut problem = failure.into_problem();
        if self.partial.is_some() && problem.code == ErrorCode::ProviderFailed {
            problem.message.push_str(" The answer so far is kept.");
        }
        tracing::info!(turn = %self.turn.id, code = problem.code.name(), "a turn ended early");
        if self.concluded.is_none() && !is_gone {
            self.end_early(self.stop, &problem).await;
        }
        self.error = Some(problem);
    }

    /// Publishes the end of the turn, and sends the report to a waiting caller.
    pub(super) fn finish(
        self,
        report: Option<tokio::sync::oneshot::Sender<TurnReport>>,
        cancelled: bool,
        duration_ms: u64,
    ) {
        // A listener may query the session after this event. The turn must not be shown as running
        // then.
        self.inner.lanes.end_running(&self.turn.session);
        self.inner.publish(AgentEvent::Done(Arc::new(Done {
            session: self.turn.session.clone(),
            turn_id: self.turn.id.clone(),
            usage: self.usage,
            stop: self.stop,
            error: self.error.clone().map(Failure),
            answered: Some(Answered {
                caller: self.turn.actor.name.clone(),
                text: self.text.chars().take(ANSWER_CHARS).collect(),
            }),
        })));
        let Some(report) = report else { return };
        let ended = TurnReport {
            session: self.turn.session,
            session_key: self.turn.session_key,
            turn_id: self.turn.id,
            text: self.text,
            stop: self.stop,
            has_answer: self.concluded == Some(true),
            audio: None,
            audio_error: None,
            usage: self.usage,
            duration_ms,
            actions: self.actions,
            error: self.error,
            cancelled,
        };
        // The waiting caller may have disconnected. The turn still counts.
        match self.speaking {
            None => drop(report.send(ended)),
            Some(speaking) => {
                // The caller waits for the audio; the lane does not.
                self.inner.tasks.spawn(async move {
                    let speech = speaking.await.unwrap_or_default();
                    drop(report.send(TurnReport {
                        audio: speech.audio,
                        audio_error: speech.problem,
                        ..ended
                    }));
                });
            }
        }
    }
}
