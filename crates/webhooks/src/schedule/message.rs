//! The message that an agent receives for a run. The message contains only settings and times, so it does not taint
//! the session.

use super::Schedule;
use crate::message::one_line;
use gatehouse_domain::Timestamp;
use gatehouse_sources::payload::{Node, Payload};

impl Schedule {
    /// Composes the message. Uses only values of the payload that parse as a time or a number, because the payload
    /// of a replay may be from a sender: the webhook may have had another profile before.
    pub(crate) fn message(&self, name: &str, received_at: Timestamp, payload: &Payload) -> String {
        let time = payload.string("scheduled_for");
        let run: Timestamp = time.and_then(|it| it.parse().ok()).unwrap_or(received_at);
        let local = self.local_time(run).unwrap_or_else(|| run.to_string());
        let missed = payload.get("missed").and_then(Node::as_u64);
        let missed = missed.filter(|missed| *missed > 0).map(|missed| {
            if missed == 1 {
                "One run could not start in time. This run takes its place.\n".to_owned()
            } else {
                format!("{missed} runs could not start in time. This run takes their place.\n")
            }
        });
        format!(
            "A scheduled run of \"{}\" is due.\nScheduled for: {local} ({})\n{}Do what your \
             instructions for this schedule say.",
            one_line(name),
            self.timezone,
            missed.unwrap_or_default()
        )
    }
}
