//! The turns of a conversation. A turn begins with a text, its answer is spoken, and it ends or is
//! interrupted.

mod ask;

use super::conversation::{Conversation, Step};
use super::output::Spoken;
use super::playback::Playback;
use super::wire::ServerMessage;
use futures_util::future::BoxFuture;
use gatehouse_agents::{Failure, HeardMessage, Sent, TurnReport};
use gatehouse_domain::Problem;
use gatehouse_domain::id::{SessionId, TurnId};
use gatehouse_domain::trace::ActiveSpan;
use gatehouse_store::unguarded;
use tokio::sync::mpsc::Receiver;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// An answer, from the question to the end of its playback.
pub(super) struct Answer {
    number: u64,
    pub(super) session: SessionId,
    /// The turn, or `None` until it is accepted.
    pub(super) turn: Option<TurnId>,
    /// Stops the turn and its speech. Unsent audio is dropped.
    pub(super) cancel: CancellationToken,
    /// The spoken parts, or `None` when all have been sent.
    pub(super) spoken: Option<Receiver<Spoken>>,
    pub(super) playback: Playback,
    /// How many parts were sent.
    pub(super) parts: u32,
    /// The result of a turn whose audio is still being sent. The result must be sent last.
    report: Option<Box<TurnReport>>,
    /// Whether the result was sent.
    has_ended: bool,
    /// The parts of an interrupted answer that were heard.
    heard: Vec<HeardMessage>,
    span: ActiveSpan,
}

impl Answer {
    /// Returns whether audio may follow.
    pub(super) const fn is_speaking(&self) -> bool {
        self.spoken.is_some()
    }

    /// Returns whether the answer has been played to its end.
    fn is_over(&self) -> bool {
        self.has_ended && !self.is_speaking() && self.playback.is_over(Instant::now())
    }
}

impl Conversation {
    pub(super) fn began(
        &mut self,
        number: u64,
        begun: Result<(Sent, BoxFuture<'static, Step>), Problem>,
    ) {
        match begun {
            Ok((sent, ended)) => {
                self.works.push(ended);
                if let Some(answer) = self.answer_with(number) {
                    answer.turn = Some(sent.turn_id.clone());
                }
                self.tell(&ServerMessage::Turn {
                    session: &sent.session,
                    turn_id: &sent.turn_id,
                });
            }
            Err(problem) => self.give_up(number, problem),
        }
    }

    fn give_up(&mut self, number: u64, problem: Problem) {
        if let Some(answer) = self.answer_with(number) {
            answer.span.fail(problem.code.name());
        }
        self.answer.take_if(|answer| answer.number == number);
        self.stopped.retain(|answer| answer.number != number);
        self.fail(problem);
    }

    pub(super) fn ended(&mut self, number: u64, ended: Result<Box<TurnReport>, Problem>) {
        match ended {
            Err(problem) => self.give_up(number, problem),
            Ok(report) => {
                if let Some(answer) = &mut self.answer
                    && answer.number == number
                {
                    answer.report = Some(report);
                    self.finish();
                    return;
                }
                self.report(&report);
                if let Some(at) = self.stopped.iter().position(|a| a.number == number) {
                    let answer = self.stopped.swap_remove(at);
                    self.note(answer);
                }
            }
        }
    }

    /// Sends the result of the turn if all of its audio was sent.
    pub(super) fn finish(&mut self) {
        let Some(answer) = &mut self.answer else {
            return;
        };
        if !answer.is_speaking()
            && let Some(report) = answer.report.take()
        {
            answer.has_ended = true;
            let mut span = std::mem::take(&mut answer.span);
            if let Some(problem) = &report.error {
                span.fail(problem.code.name());
            }
            drop(span);
            self.report(&report);
        }
    }

    fn report(&mut self, report: &TurnReport) {
        let failure = |problem: Option<Problem>| problem.map(Failure);
        self.tell(&ServerMessage::Answer {
            turn_id: &report.turn_id,
            text: &report.text,
            stop: report.stop,
            audio: report.audio.as_deref(),
            usage: report.usage,
            error: failure(report.error.clone()),
            audio_error: failure(report.audio_error.clone()),
        });
    }

    /// Stops the answer. The part that was heard is stored after the turn has ended.
    pub(super) fn interrupt(&mut self) {
        let Some(mut answer) = self.answer.take() else {
            return;
        };
        if answer.is_over() {
            return;
        }
        // The token also cancels audio that waits to be sent.
        answer.cancel.cancel();
        answer.spoken = None;
        answer.heard = answer.playback.heard(Instant::now());
        let heard: Vec<&str> = answer
            .heard
            .iter()
            .map(|heard| heard.text.as_str())
            .collect();
        self.tell(&ServerMessage::Interrupted {
            turn_id: answer.turn.as_ref(),
            heard: heard.join(" ").trim().to_owned(),
        });
        if let Some(report) = answer.report.take() {
            answer.has_ended = true;
            self.report(&report);
        }
        if answer.has_ended {
            self.note(answer);
        } else {
            self.stopped.push(answer);
        }
    }

    /// Stores the part that was heard, even if the caller's credential has expired.
    fn note(&mut self, answer: Answer) {
        self.notes += 1;
        let agents = self.parts.agents.clone();
        self.works.push(Box::pin(unguarded(async move {
            if let Some(turn) = &answer.turn {
                let noted = agents.note_heard(&answer.session, turn, answer.heard).await;
                if let Err(error) = noted {
                    tracing::warn!(%error, "what was heard of an answer could not be stored");
                }
            }
            Step::Noted
        })));
    }
}
