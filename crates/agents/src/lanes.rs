//! Lanes: each session runs one turn at a time, in order of arrival. Counts and orders turns, independent of their
//! content.

use crate::error::AgentsError;
use crate::turn::queued::Turn;
use gatehouse_domain::id::{SessionId, TurnId};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// The maximum number of turns that wait behind the running one.
pub(crate) const MAX_WAITING: usize = 64;
/// The maximum number of sessions with running or waiting turns.
const MAX_LANES: usize = 1024;

/// The lanes that are in use.
#[derive(Debug, Default)]
pub(crate) struct Lanes(Mutex<HashMap<SessionId, Lane>>);

#[derive(Debug, Default)]
struct Lane {
    /// The number of turns that have a reserved slot and are being stored.
    promised: usize,
    waiting: VecDeque<Turn>,
    running: Option<Running>,
    /// Whether a task runs the turns of this lane.
    is_served: bool,
    /// Locked while a turn is stored, so the numbers of turns have the order in which they wait.
    entrance: Arc<tokio::sync::Mutex<()>>,
}

/// The state of a running turn.
#[derive(Debug)]
struct Running {
    turn_id: TurnId,
    /// Stops the turn.
    cancel: CancellationToken,
    /// The number of the current answer in this turn.
    answer: u64,
    /// The part of the current answer received so far.
    text: String,
    /// The length of `text` in UTF-16 code units.
    units: u64,
}

/// A turn that waits for turns on other nodes.
pub(crate) struct WaitingTurn {
    pub(crate) session: SessionId,
    /// The number of the turn in the session.
    pub(crate) number: i64,
    pub(crate) cancel: CancellationToken,
}

/// A running turn as callers see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunningTurn {
    pub turn_id: TurnId,
    /// The text sent by `chat.delta` so far for an answer that is not a message yet.
    pub text: String,
    /// The number of the current answer in this turn.
    #[serde(skip)]
    pub(crate) answer: u64,
}

impl Lane {
    fn turns(&self) -> usize {
        self.promised + self.waiting.len() + usize::from(self.running.is_some())
    }
}

/// A turn that was appended to its lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pushed {
    /// The number of turns before it.
    pub(crate) position: usize,
    /// Whether a task already served the lane.
    pub(crate) is_served: bool,
}

/// A reserved slot in a lane. Dropping it releases the slot.
#[derive(Debug)]
pub(crate) struct LaneReservation<'a> {
    lanes: &'a Lanes,
    session: SessionId,
    /// Lock this while the turn is stored and pushed.
    pub(crate) entrance: Arc<tokio::sync::Mutex<()>>,
}

impl Drop for LaneReservation<'_> {
    fn drop(&mut self) {
        let mut lanes = self.lanes.lock();
        if let Some(lane) = lanes.get_mut(&self.session) {
            lane.promised -= 1;
            if lane.turns() == 0 && !lane.is_served {
                lanes.remove(&self.session);
            }
        }
    }
}

impl Lanes {
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Lane>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a slot. Fails if 64 turns wait behind the running one, or if too many sessions have turns.
    pub(crate) fn promise(&self, session: &SessionId) -> Result<LaneReservation<'_>, AgentsError> {
        let mut lanes = self.lock();
        if lanes.len() >= MAX_LANES && !lanes.contains_key(session) {
            return Err(AgentsError::TooManyWaiting);
        }
        let lane = lanes.entry(session.clone()).or_default();
        if lane.turns() > MAX_WAITING {
            return Err(AgentsError::TooManyWaiting);
        }
        lane.promised += 1;
        Ok(LaneReservation {
            lanes: self,
            session: session.clone(),
            entrance: Arc::clone(&lane.entrance),
        })
    }

    /// Appends a turn to its lane. The caller must serve the lane if no task does.
    pub(crate) fn push(&self, turn: Turn) -> Pushed {
        let mut lanes = self.lock();
        let lane = lanes.entry(turn.session.clone()).or_default();
        let position = lane.waiting.len() + usize::from(lane.running.is_some());
        lane.waiting.push_back(turn);
        Pushed {
            position,
            is_served: std::mem::replace(&mut lane.is_served, true),
        }
    }

    /// Returns the next turn to run, for the task that serves the lane. After `None`, the lane is no longer served.
    pub(crate) fn next(&self, session: &SessionId) -> Option<Turn> {
        let mut lanes = self.lock();
        let lane = lanes.get_mut(session)?;
        lane.running = None;
        if let Some(turn) = lane.waiting.pop_front() {
            lane.running = Some(Running {
                turn_id: turn.id.clone(),
                cancel: turn.cancel.clone(),
                answer: 0,
                text: String::new(),
                units: 0,
            });
            return Some(turn);
        }
        lane.is_served = false;
        if lane.turns() == 0 {
            lanes.remove(session);
        }
        None
    }

    /// Returns the turns that run or wait.
    pub(crate) fn turn_ids(&self) -> Vec<TurnId> {
        let lanes = self.lock();
        let ids = lanes.values().flat_map(|lane| {
            let running = lane.running.iter().map(|turn| &turn.turn_id);
            running.chain(lane.waiting.iter().map(|turn| &turn.id))
        });
        ids.cloned().collect()
    }

    /// Returns the next turn of a session, if it waits for other nodes.
    pub(crate) fn next_behind_other_nodes(&self, session: &SessionId) -> Option<WaitingTurn> {
        let lanes = self.lock();
        let turn = lanes.get(session)?.waiting.front()?;
        (turn.behind_other_nodes > 0).then(|| WaitingTurn {
            session: turn.session.clone(),
            number: turn.number,
            cancel: turn.cancel.clone(),
        })
    }

    /// Stops the running turn of a session. Returns whether there was one. Waiting turns still run.
    pub(crate) fn cancel_running(&self, session: &SessionId) -> bool {
        let lanes = self.lock();
        let running = lanes.get(session).and_then(|lane| lane.running.as_ref());
        running.inspect(|turn| turn.cancel.cancel()).is_some()
    }

    /// Stops a turn if it runs on this node.
    pub(crate) fn cancel_turn(&self, id: &TurnId) {
        let lanes = self.lock();
        let running = lanes.values().filter_map(|lane| lane.running.as_ref());
        for turn in running.filter(|turn| turn.turn_id == *id) {
            turn.cancel.cancel();
        }
    }

    /// Returns the running turn of a session on this node.
    pub(crate) fn running(&self, session: &SessionId) -> Option<RunningTurn> {
        let lanes = self.lock();
        let running = lanes.get(session)?.running.as_ref()?;
        Some(RunningTurn {
            turn_id: running.turn_id.clone(),
            text: running.text.clone(),
            answer: running.answer,
        })
    }

    /// Returns whether a turn runs in a session on this node.
    pub(crate) fn is_running(&self, session: &SessionId) -> bool {
        let lanes = self.lock();
        lanes
            .get(session)
            .is_some_and(|lane| lane.running.is_some())
    }

    /// Starts a new answer: resets the received text.
    pub(crate) fn begin_answer(&self, session: &SessionId) {
        if let Some(running) = self
            .lock()
            .get_mut(session)
            .and_then(|l| l.running.as_mut())
        {
            running.answer += 1;
            running.text.clear();
            running.units = 0;
        }
    }

    /// Appends to the current answer. Returns the offset of the new text in UTF-16 code units.
    pub(crate) fn add_to_answer(&self, session: &SessionId, text: &str) -> u64 {
        let mut lanes = self.lock();
        let Some(running) = lanes.get_mut(session).and_then(|l| l.running.as_mut()) else {
            return 0;
        };
        let at = running.units;
        running.text.push_str(text);
        let units = text.encode_utf16().count();
        running.units += u64::try_from(units).unwrap_or_default();
        at
    }

    /// Marks the running turn as ended. [`Lanes::next`] takes the next one.
    pub(crate) fn end_running(&self, session: &SessionId) {
        if let Some(lane) = self.lock().get_mut(session) {
            lane.running = None;
        }
    }

    /// Stops the running turn of a session and its waiting turns.
    pub(crate) fn cancel_session(&self, session: &SessionId) {
        if let Some(lane) = self.lock().get(session) {
            lane.running.iter().for_each(|turn| turn.cancel.cancel());
            lane.waiting.iter().for_each(|turn| turn.cancel.cancel());
        }
    }

    /// Stops every waiting turn.
    pub(crate) fn cancel_waiting(&self) {
        for lane in self.lock().values() {
            lane.waiting.iter().for_each(|turn| turn.cancel.cancel());
        }
    }

    pub(crate) fn cancel_all(&self) {
        for lane in self.lock().values() {
            lane.running.iter().for_each(|turn| turn.cancel.cancel());
            lane.waiting.iter().for_each(|turn| turn.cancel.cancel());
        }
    }
}

#[cfg(test)]
mod tests;
