//! The check of `doctor`.

use super::health::{Signal, State};
use crate::Services;
use crate::doctor::check::Check;

const ID: &str = "telemetry";

/// Reports whether the collector accepts data; `None` without a collector.
pub(crate) fn check(services: &Services) -> Option<Check> {
    let export = services.telemetry.0.as_ref()?;
    let states = Signal::ALL.map(|signal| (signal, export.health.of(signal)));
    let refused = states.iter().find_map(|(signal, state)| match state {
        State::Refused(reason) => Some((signal.as_str(), reason)),
        State::Unknown | State::Accepted => None,
    });
    if let Some((signal, reason)) = refused {
        return Some(Check::bad(
            ID,
            format!("The telemetry collector accepts no {signal}: {reason}."),
            "Check that telemetry.otlp_endpoint is the URL of a collector that listens for OTLP/HTTP, usually on port \
             4318.",
        ));
    }
    let has_sent = states.iter().any(|(_, state)| *state == State::Accepted);
    Some(Check::fine(
        ID,
        if has_sent {
            "The telemetry collector accepts data."
        } else {
            "This process has not sent anything to the telemetry collector yet."
        },
    ))
}
