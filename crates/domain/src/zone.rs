//! Time zones: the calendar day of a moment.

use crate::Timestamp;
use jiff::tz::TimeZone;
use std::fmt;
use std::str::FromStr;

/// A time zone, by its name in the IANA database.
#[derive(Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

/// A zone that every IANA database contains.
const ANY: &str = "Europe/Berlin";

/// Why a name is not a time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownZone {
    #[error("expected a time zone, such as Europe/Berlin or UTC")]
    Name,
    /// The machine has no IANA database.
    #[error("this machine has no time zones but UTC; install the package tzdata")]
    NoneInstalled,
}

impl Zone {
    /// Returns the zone of this machine, or UTC if it is unknown.
    pub fn system() -> Self {
        Self(TimeZone::try_system().unwrap_or(TimeZone::UTC))
    }

    pub const fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// Returns the name, such as `Europe/Berlin`. For a zone without a name, returns its current offset.
    pub fn name(&self, at: Timestamp) -> String {
        match self.0.iana_name() {
            Some(name) => name.to_owned(),
            None => match jiff::Timestamp::from_millisecond(at.as_millis()) {
                Ok(at) => format!("UTC{}", self.0.to_offset(at)),
                Err(_) => "UTC".to_owned(),
            },
        }
    }

    /// Returns the rules of the zone, for calculations with wall-clock times.
    pub const fn rules(&self) -> &TimeZone {
        &self.0
    }

    /// Returns the weekday and the date, such as `Sunday, 2026-11-22`.
    pub fn day(&self, at: Timestamp) -> String {
        match jiff::Timestamp::from_millisecond(at.as_millis()) {
            Ok(at) => at
                .to_zoned(self.0.clone())
                .strftime("%A, %Y-%m-%d")
                .to_string(),
            Err(_) => at.to_string(),
        }
    }
}

impl Default for Zone {
    fn default() -> Self {
        Self::utc()
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Zone").field(&self.0.iana_name()).finish()
    }
}

impl FromStr for Zone {
    type Err = UnknownZone;

    fn from_str(name: &str) -> Result<Self, UnknownZone> {
        TimeZone::get(name).map(Self).map_err(|_| {
            if TimeZone::get(ANY).is_ok() {
                UnknownZone::Name
            } else {
                UnknownZone::NoneInstalled
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_depends_on_the_zone() {
        let at: Timestamp = "2026-11-22T23:30:00Z".parse().unwrap();
        assert_eq!(Zone::utc().day(at), "Sunday, 2026-11-22");
        let berlin: Zone = "Europe/Berlin".parse().unwrap();
        assert_eq!(berlin.day(at), "Monday, 2026-11-23");
        assert_eq!(berlin.name(at), "Europe/Berlin");
        assert_eq!(Zone::utc().name(at), "UTC");
        assert_eq!("Nowhere/At_All".parse::<Zone>(), Err(UnknownZone::Name));
    }
}
