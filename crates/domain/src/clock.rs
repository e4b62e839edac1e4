//! Time as an injected value, so that tests can advance it instead of sleeping.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

/// A moment in Unix milliseconds: an integer in the database, RFC 3339 UTC in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Returns this moment plus `duration`, saturating.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    /// Returns the duration from this moment to `later`; zero when `later` is earlier.
    pub fn until(self, later: Self) -> Duration {
        Duration::from_millis(u64::try_from(later.0.saturating_sub(self.0)).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(f, "{moment:.3}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

impl std::str::FromStr for Timestamp {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        Ok(Self(text.parse::<jiff::Timestamp>()?.as_millisecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse()
            .map_err(|_| serde::de::Error::custom("expected an RFC 3339 time"))
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// The source of time. Two implementations ship: the system clock, and a manual clock for tests and
/// replays.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Returns the wall-clock time.
    fn now(&self) -> Timestamp;

    /// Returns milliseconds that never decrease, for windows and timeouts. The origin is arbitrary.
    fn monotonic_ms(&self) -> u64;
}

/// The system's wall clock and monotonic clock.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// Creates a clock whose monotonic time starts at zero.
    pub fn new() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the wall clock"
    )]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let millis = since.map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX));
        Timestamp(millis)
    }

    fn monotonic_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// A clock that changes only when a test advances it.
#[derive(Debug)]
pub struct ManualClock {
    millis: AtomicI64,
    monotonic: AtomicI64,
}

impl ManualClock {
    /// Starts the wall clock at `now` and the monotonic clock at zero.
    pub const fn at(now: Timestamp) -> Self {
        Self {
            millis: AtomicI64::new(now.0),
            monotonic: AtomicI64::new(0),
        }
    }

    /// Moves both clocks forward.
    pub fn advance(&self, duration: Duration) {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        self.millis.fetch_add(millis, Ordering::SeqCst);
        self.monotonic.fetch_add(millis, Ordering::SeqCst);
    }

    /// Sets only the wall clock, forward or back, as an operator or NTP can.
    pub fn set_wall(&self, now: Timestamp) {
        self.millis.store(now.0, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.millis.load(Ordering::SeqCst))
    }

    fn monotonic_ms(&self) -> u64 {
        u64::try_from(self.monotonic.load(Ordering::SeqCst)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_rfc_3339_with_milliseconds() {
        let moment = Timestamp::from_millis(1_795_000_000_123);
        assert_eq!(moment.to_string(), "2026-11-18T11:06:40.123Z");
        assert_eq!(
            "2026-11-18T12:06:40.123+01:00"
                .parse::<Timestamp>()
                .unwrap(),
            moment
        );
    }

    #[test]
    fn a_manual_clock_moves_only_when_advanced() {
        let clock = ManualClock::at(Timestamp::from_millis(5));
        clock.advance(Duration::from_secs(2));
        assert_eq!(
            (clock.now().as_millis(), clock.monotonic_ms()),
            (2005, 2000)
        );
        clock.set_wall(Timestamp::from_millis(1));
        assert_eq!((clock.now().as_millis(), clock.monotonic_ms()), (1, 2000));
    }
}
