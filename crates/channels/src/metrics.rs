//! The metrics of this crate.

use crate::error::Failure;
use metrics::{counter, describe_counter};

const SENDS: &str = "channels_sends_total";
const PICTURES: &str = "channels_pictures_total";

/// Describes the metrics. Call it once, after the recorder is installed.
pub fn describe() {
    describe_counter!(SENDS, "Messages to channels by type and outcome.");
    describe_counter!(PICTURES, "Pictures to channels by type and outcome.");
}

/// Counts an attempt to send a message, regardless of its number of parts.
pub(crate) fn sent(kind: &'static str, sent: &Result<(), Failure>) {
    let outcome = sent.as_ref().map_or_else(Failure::kind, |()| "ok");
    counter!(SENDS, "type" => kind, "outcome" => outcome).increment(1);
}

/// Counts a picture that was sent or left out.
pub(crate) fn picture(kind: &'static str, sent: &Result<(), Failure>) {
    let outcome = sent.as_ref().map_or_else(Failure::kind, |()| "ok");
    counter!(PICTURES, "type" => kind, "outcome" => outcome).increment(1);
}
