//! Limits the wrong passwords of one credential across all endpoints that check a password, so that a stolen
//! session cannot be used to guess it. Each attempt reserves a slot before the password is checked, so concurrent
//! attempts cannot exceed the limit.

use crate::throttle::RetryAfter;
use gatehouse_domain::{Clock, KeyedWindows, WindowKey};
use gatehouse_store::{Permits, RateKey};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of wrong passwords per credential and window.
pub(crate) const MAX_WRONG: u32 = 30;
/// The length of the window.
pub(crate) const WINDOW_MS: u32 = 600_000;
/// The maximum number of tracked credentials. Only authenticated credentials are tracked, so the number is never
/// reached in practice.
const CAPACITY: usize = 10_000;

/// Counts wrong passwords by the ID of the sending credential.
#[derive(Debug)]
pub struct WrongPasswords {
    clock: Arc<dyn Clock>,
    windows: Mutex<KeyedWindows<Box<str>>>,
}

impl WrongPasswords {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let windows = Mutex::new(KeyedWindows::new(WINDOW_MS, CAPACITY, clock.monotonic_ms()));
        Self { clock, windows }
    }

    /// Reserves a slot for one attempt. Call it before the password is checked. The attempt counts as wrong unless
    /// the slot is released.
    pub fn begin(&self, credential_id: &str) -> Result<Try<'_>, RetryAfter> {
        let mut windows = self.lock();
        let now = self.clock.monotonic_ms();
        windows.tick(now);
        let place = windows.place(credential_id.into(), Box::default(), 0, now);
        if let Some(ms) = windows.wait(&place, MAX_WRONG, now) {
            return Err(RetryAfter { ms });
        }
        windows.record(place.clone(), now);
        Ok(Try {
            counts: self,
            place,
            at_ms: now,
        })
    }

    fn lock(&self) -> MutexGuard<'_, KeyedWindows<Box<str>>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reserved slot of one attempt.
#[derive(Debug)]
#[must_use = "an attempt that is not released counts as a wrong password"]
pub struct Try<'a> {
    counts: &'a WrongPasswords,
    place: WindowKey<Box<str>>,
    at_ms: u64,
}

impl Try<'_> {
    /// Releases the slot: the password was correct or was not checked.
    pub fn give_back(self) {
        self.counts.lock().take_back(&self.place, self.at_ms);
    }
}

/// The ID of a credential.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Credential(pub(crate) Box<str>);

impl RateKey for Credential {
    fn name(&self) -> String {
        format!("wrong_passwords:{}", self.0)
    }
}

/// The reserved slot of one attempt on all nodes.
#[derive(Debug)]
#[must_use = "an attempt that is not released counts as a wrong password"]
pub(crate) struct TryByAll<'a> {
    pub(crate) here: Try<'a>,
    pub(crate) everywhere: Permits<Credential>,
}

impl TryByAll<'_> {
    /// Releases the slot: the password was correct or was not checked.
    pub(crate) fn give_back(self) {
        self.here.give_back();
        self.everywhere.give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::{ManualClock, Timestamp};
    use std::time::Duration;

    fn wrong_passwords() -> (Arc<ManualClock>, WrongPasswords) {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(0)));
        (clock.clone(), WrongPasswords::new(clock))
    }

    fn is_refused(wrong: &WrongPasswords, id: &str) -> Option<u64> {
        match wrong.begin(id) {
            Ok(tried) => {
                tried.give_back();
                None
            }
            Err(RetryAfter { ms }) => Some(ms),
        }
    }

    #[test]
    fn thirty_are_answered_and_then_the_credential_waits() {
        let (clock, wrong) = wrong_passwords();
        for _ in 0..30 {
            assert_eq!(is_refused(&wrong, "ses_1"), None);
            drop(wrong.begin("ses_1").unwrap());
            clock.advance(Duration::from_secs(1));
        }
        assert_eq!(is_refused(&wrong, "ses_1"), Some(570_000));
        assert_eq!(is_refused(&wrong, "ses_2"), None);
        clock.advance(Duration::from_millis(569_999));
        assert_eq!(is_refused(&wrong, "ses_1"), Some(1));
        clock.advance(Duration::from_millis(1));
        assert_eq!(is_refused(&wrong, "ses_1"), None);
        drop(wrong.begin("ses_1").unwrap());
        assert_eq!(is_refused(&wrong, "ses_1"), Some(1_000));
    }

    #[test]
    fn tries_that_have_not_ended_take_their_places() {
        let (_, wrong) = wrong_passwords();
        let mut running: Vec<_> = (0..30).map(|_| wrong.begin("ses_1").unwrap()).collect();
        assert!(wrong.begin("ses_1").is_err());
        running.pop().unwrap().give_back();
        assert_eq!(is_refused(&wrong, "ses_1"), None, "one was right");
        drop(running);
        drop(wrong.begin("ses_1").unwrap());
        assert!(wrong.begin("ses_1").is_err(), "thirty were wrong");
    }

    #[test]
    fn the_table_is_bounded() {
        let (_, wrong) = wrong_passwords();
        for number in 0..=CAPACITY {
            drop(wrong.begin(&number.to_string()).unwrap());
        }
        assert_eq!(wrong.lock().len(), CAPACITY);
        for _ in 1..MAX_WRONG {
            drop(wrong.begin("one more").unwrap());
        }
        assert!(
            is_refused(&wrong, "another").is_some(),
            "newcomers share one count"
        );
        assert_eq!(is_refused(&wrong, "0"), None);
    }
}
