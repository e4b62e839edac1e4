//! The metric of this crate.

use crate::error::Failure;
use metrics::{counter, describe_counter};

const SENDS: &str = "channels_sends_total";

/// Describes the metric. Call it once, after the recorder is installed.
pub fn describe() {
    describe_counter!(SENDS, "Messages to channels by type and outcome.");
}

/// Counts an attempt to send a message, however many parts it has.
pub(crate) fn sent(kind: &'static str, sent: &Result<(), Failure>) {
    let outcome = sent.as_ref().map_or_else(Failure::kind, |()| "ok");
    counter!(SENDS, "type" => kind, "outcome" => outcome).increment(1);
}
