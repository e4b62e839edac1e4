//! Tracks whether the collector accepts the data. Logs only changes.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A kind of data. Each kind has its own path at the collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Traces,
    Metrics,
}

impl Signal {
    pub(super) const ALL: [Self; 2] = [Self::Traces, Self::Metrics];

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::Metrics => "metrics",
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing has been sent yet.
    #[default]
    Unknown,
    Accepted,
    /// The collector refused the data, for this reason.
    Refused(String),
}

#[derive(Debug, Default)]
struct Known {
    traces: State,
    metrics: State,
    /// The last warning of the collector.
    warning: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Health(Mutex<Known>);

impl Health {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn of(&self, signal: Signal) -> State {
        let known = self.lock();
        match signal {
            Signal::Traces => known.traces.clone(),
            Signal::Metrics => known.metrics.clone(),
        }
    }

    pub(super) fn note(&self, signal: Signal, now: State) {
        let mut known = self.lock();
        let state = match signal {
            Signal::Traces => &mut known.traces,
            Signal::Metrics => &mut known.metrics,
        };
        let before = std::mem::replace(state, now.clone());
        drop(known);
        let signal = signal.as_str();
        match (before, now) {
            (State::Refused(_), State::Accepted) => {
                tracing::info!(signal, "the telemetry collector accepts data again");
            }
            (State::Unknown | State::Accepted, State::Refused(reason)) => {
                tracing::warn!(signal, reason, "the telemetry collector accepts no data");
            }
            _ => {}
        }
    }

    /// Records the warning in a response with which the collector accepted a request. `rejected` is the number of
    /// entries that it discarded.
    pub(super) fn warn(&self, signal: Signal, rejected: u64, message: &str) {
        let warning = format!("{} {message}", rejected > 0);
        let mut known = self.lock();
        let is_new = known.warning.as_ref() != Some(&warning);
        known.warning = Some(warning);
        drop(known);
        if is_new {
            let signal = signal.as_str();
            tracing::warn!(signal, rejected, message, "the telemetry collector warns");
        }
    }
}
