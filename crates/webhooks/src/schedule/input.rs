//! The input for a schedule, and its validation.

use super::{Schedule, When};
use crate::error::WebhooksError;
use croner::Cron;
use gatehouse_domain::{Timestamp, Zone};
use jiff::civil::DateTime;
use jiff::tz::AmbiguousOffset;
use schemars::JsonSchema;
use serde::Deserialize;

const FIELD: &str = "schedule";
/// Maximum length of a pattern, in characters.
const MAX_PATTERN: usize = 200;
/// Maximum time between runs: 366 days.
const MAX_SECONDS: u32 = 31_622_400;

/// When a webhook of the profile `schedule` runs. Give one of `cron`, `every_seconds` and `at`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleInput {
    /// A pattern of five fields (minute, hour, day of month, month, day of week) or six (seconds first), such as
    /// `0 9 * * MON-FRI`, or a name such as `@daily`.
    pub cron: Option<String>,
    /// The time between runs. The first run is this long after the schedule is created, changed or enabled.
    #[schemars(range(min = 1, max = 31_622_400))]
    pub every_seconds: Option<i64>,
    /// The time of the only run: RFC 3339, or a date and time without an offset in the time zone.
    pub at: Option<String>,
    /// The IANA name of the time zone of `cron` and `at`. Default: `UTC`.
    pub timezone: Option<String>,
}

fn invalid<T>(reason: impl Into<String>) -> Result<T, WebhooksError> {
    Err(WebhooksError::invalid(FIELD, reason))
}

impl ScheduleInput {
    /// Validates the form of the schedule. [`Schedule::first_run`] determines whether it has a run.
    pub(crate) fn check(&self) -> Result<Schedule, WebhooksError> {
        let zone = match self.timezone.as_deref() {
            None => Zone::utc(),
            Some(name) => name
                .parse()
                .or_else(|error| invalid(format!("timezone: {error}")))?,
        };
        let when = match (&self.cron, self.every_seconds, &self.at) {
            (Some(pattern), None, None) => When::Cron(pattern_of(pattern)?),
            (None, Some(seconds), None) => When::Every(seconds_of(seconds)?),
            (None, None, Some(at)) => When::At(time_of(at, &zone)?),
            _ => return invalid("give exactly one of cron, every_seconds and at"),
        };
        Ok(Schedule::new(when, &zone))
    }
}

fn pattern_of(pattern: &str) -> Result<String, WebhooksError> {
    let pattern = pattern.trim();
    if pattern.chars().count() > MAX_PATTERN {
        return invalid(format!("cron: at most {MAX_PATTERN} characters"));
    }
    match pattern.parse::<Cron>() {
        Ok(_) => Ok(pattern.to_owned()),
        Err(error) => {
            // The message adds a full stop.
            let reason = error.to_string();
            invalid(format!("cron: {}", reason.trim_end_matches('.')))
        }
    }
}

fn seconds_of(seconds: i64) -> Result<u32, WebhooksError> {
    match u32::try_from(seconds) {
        Ok(seconds) if (1..=MAX_SECONDS).contains(&seconds) => Ok(seconds),
        _ => invalid(format!("every_seconds: expected 1 to {MAX_SECONDS}")),
    }
}

/// Parses a timestamp, or a wall-clock time of the zone. If the wall-clock time occurs twice, the first occurrence
/// is used.
fn time_of(at: &str, zone: &Zone) -> Result<Timestamp, WebhooksError> {
    if let Ok(moment) = at.parse() {
        return Ok(moment);
    }
    // The parser ignores a zone name, and parses a date without a time as midnight.
    let is_complete = !at.contains('[') && at.contains(['T', 't', ' ']);
    let Some(local) = at.parse::<DateTime>().ok().filter(|_| is_complete) else {
        return invalid("at: expected a time such as 2026-12-24T18:00:00Z or 2026-12-24T18:00");
    };
    let moment = zone.rules().to_ambiguous_timestamp(local);
    if matches!(moment.offset(), AmbiguousOffset::Gap { .. }) {
        return invalid("at: this time is skipped in the time zone, because clocks go forward");
    }
    match moment.earlier() {
        Ok(moment) => Ok(Timestamp::from_millis(moment.as_millisecond())),
        Err(_) => invalid("at: this time is out of range"),
    }
}
