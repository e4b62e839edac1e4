//! Follows the events of a one-off turn until it ends.

use super::AnswerPiece;
use crate::error::AgentsError;
use crate::event::{AgentEvent, Delta};
use crate::send::TurnReport;
use crate::stop::Stop;
use gatehouse_domain::{Problem, id::TurnId};
use gatehouse_models::StopReason;
use std::collections::VecDeque;
use tokio::sync::{broadcast, oneshot};
use tokio_util::sync::DropGuard;

/// Reads the answer of a turn from its events. Takes missing values from its report.
pub(super) struct Following {
    pub(super) events: broadcast::Receiver<AgentEvent>,
    pub(super) ended: oneshot::Receiver<TurnReport>,
    pub(super) turn: TurnId,
    /// The text of the current step so far, and its length in UTF-16 code units.
    pub(super) text: String,
    pub(super) units: u64,
    pub(super) ready: VecDeque<Result<AnswerPiece, Problem>>,
    /// Whether more events of the turn may follow.
    pub(super) is_listening: bool,
    pub(super) is_over: bool,
    pub(super) _stops: DropGuard,
}

impl Following {
    pub(super) async fn next(&mut self) -> Option<Result<AnswerPiece, Problem>> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Some(piece);
            }
            if self.is_over {
                return None;
            }
            tokio::select! {
                biased;
                event = self.events.recv(), if self.is_listening => self.hear(event),
                report = &mut self.ended => self.conclude(report.ok()),
            }
        }
    }

    fn hear(&mut self, event: Result<AgentEvent, broadcast::error::RecvError>) {
        match event {
            Ok(AgentEvent::Delta(delta)) if delta.turn_id == self.turn => self.take(&delta),
            Ok(AgentEvent::Done(done)) if done.turn_id == self.turn => self.is_listening = false,
            // The report contains the content of a missed event.
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => self.is_listening = false,
        }
    }

    fn take(&mut self, delta: &Delta) {
        if delta.at == 0 && self.units > 0 {
            self.begin_step();
        }
        if delta.at == self.units {
            let units = delta.text.encode_utf16().count();
            self.units += u64::try_from(units).unwrap_or_default();
            self.text.push_str(&delta.text);
            self.push(AnswerPiece::Text(delta.text.clone()));
        }
    }

    fn begin_step(&mut self) {
        self.push(AnswerPiece::NextStep);
        self.text.clear();
        self.units = 0;
    }

    fn conclude(&mut self, report: Option<TurnReport>) {
        self.is_over = true;
        let mut report = match report {
            None => return self.ready.push_back(Err(AgentsError::ShuttingDown.into())),
            Some(TurnReport {
                error: Some(problem),
                ..
            }) => return self.ready.push_back(Err(problem)),
            Some(report) => report,
        };
        // The text before a tool call is not the answer.
        if !report.has_answer {
            self.begin_step();
            report.text.clear();
        }
        let rest = if let Some(rest) = report.text.strip_prefix(&self.text) {
            rest.to_owned()
        } else {
            self.begin_step();
            report.text
        };
        if !rest.is_empty() {
            self.push(AnswerPiece::Text(rest));
        }
        self.push(AnswerPiece::End {
            usage: report.usage,
            stop: reason_of(report.stop),
        });
    }

    fn push(&mut self, piece: AnswerPiece) {
        self.ready.push_back(Ok(piece));
    }
}

const fn reason_of(stop: Stop) -> StopReason {
    match stop {
        Stop::Length => StopReason::Length,
        Stop::Refused => StopReason::Refused,
        Stop::Filtered => StopReason::Filtered,
        Stop::End | Stop::ToolLimit | Stop::Aborted | Stop::Error | Stop::Interrupted => {
            StopReason::End
        }
    }
}
