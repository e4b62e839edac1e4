//! Calendar days in UTC.

use crate::Timestamp;
use jiff::ToSpan;
use jiff::civil::Date;
use std::fmt;

const DAY_MS: i64 = 86_400_000;
const EPOCH: Date = Date::constant(1970, 1, 1);

/// A calendar day in UTC: the number of days since 1970-01-01. Displayed as `2026-01-31`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UtcDay(i64);

impl UtcDay {
    /// Returns the day of a moment.
    pub const fn of(moment: Timestamp) -> Self {
        Self(moment.as_millis().div_euclid(DAY_MS))
    }

    /// Returns the day with this number of days since 1970-01-01.
    pub const fn from_number(days: i64) -> Self {
        Self(days)
    }

    /// Returns the number of days since 1970-01-01.
    pub const fn number(self) -> i64 {
        self.0
    }

    /// Returns the first moment of the day.
    pub const fn start(self) -> Timestamp {
        Timestamp::from_millis(self.0.saturating_mul(DAY_MS))
    }

    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// Returns the first day of its month.
    #[must_use]
    pub fn first_of_month(self) -> Self {
        let date = self.date();
        Self(self.0.saturating_sub(i64::from(date.day()) - 1))
    }

    /// Returns the first day of the next month.
    #[must_use]
    pub fn next_month(self) -> Self {
        let days = self.date().days_in_month();
        Self(self.first_of_month().0.saturating_add(i64::from(days)))
    }

    /// Returns the date; the nearest one if the day is out of range.
    fn date(self) -> Date {
        let days = i32::try_from(self.0).unwrap_or(i32::MAX);
        let nearest = if days < 0 { Date::MIN } else { Date::MAX };
        let span = 0.days().try_days(days);
        let date = span.and_then(|span| EPOCH.checked_add(span));
        date.unwrap_or(nearest)
    }
}

impl fmt::Display for UtcDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.date().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_months_begin_and_end_in_utc() {
        for (moment, day, month, next_month) in [
            (
                "1970-01-01T00:00:00Z",
                "1970-01-01",
                "1970-01-01",
                "1970-02-01",
            ),
            (
                "2024-02-29T23:59:59.999Z",
                "2024-02-29",
                "2024-02-01",
                "2024-03-01",
            ),
            (
                "2026-12-31T12:00:00Z",
                "2026-12-31",
                "2026-12-01",
                "2027-01-01",
            ),
            (
                "1969-12-31T23:59:59Z",
                "1969-12-31",
                "1969-12-01",
                "1970-01-01",
            ),
        ] {
            let of = UtcDay::of(moment.parse().unwrap());
            assert_eq!(of.to_string(), day);
            assert_eq!(of.first_of_month().to_string(), month);
            assert_eq!(of.next_month().to_string(), next_month);
            assert_eq!(UtcDay::of(of.start()), of);
            assert_eq!(UtcDay::from_number(of.number()), of);
        }
        let last = UtcDay::of("2026-01-31T10:00:00Z".parse().unwrap());
        assert_eq!(last.next().start().to_string(), "2026-02-01T00:00:00.000Z");
    }

    #[test]
    fn no_day_panics() {
        for days in [i64::MIN, -4_000_000, 4_000_000, i64::MAX] {
            let day = UtcDay::from_number(days);
            let _ = (day.to_string(), day.next_month(), day.start(), day.next());
        }
    }
}
