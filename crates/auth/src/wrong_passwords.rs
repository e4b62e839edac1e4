//! How many wrong passwords one credential may send, over all endpoints that take one: a stolen
//! session must not become a way to guess the password. Does not know what was wrong.

use crate::throttle::RetryAfter;
use gatehouse_domain::{Clock, KeyedWindows};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Wrong passwords of one credential that are still answered as such.
const MAX_WRONG: u32 = 30;
/// In this time.
const WINDOW_MS: u32 = 600_000;
/// Credentials told apart; only recognised ones get here, so this is far more than there are.
const CAPACITY: usize = 10_000;

/// Counts wrong passwords by the id of the credential that sent them.
#[derive(Debug)]
pub struct WrongPasswords {
    clock: Arc<dyn Clock>,
    windows: Mutex<KeyedWindows<Box<str>>>,
}

impl WrongPasswords {
    /// Nobody has been wrong yet.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let windows = Mutex::new(KeyedWindows::new(WINDOW_MS, CAPACITY, clock.monotonic_ms()));
        Self { clock, windows }
    }

    /// Whether this credential may send a password now; call before the password is looked at.
    pub fn check(&self, credential_id: &str) -> Result<(), RetryAfter> {
        let mut windows = self.lock();
        let now = self.clock.monotonic_ms();
        windows.tick(now);
        let place = windows.place(credential_id.into(), Box::default(), 0, now);
        windows
            .wait(&place, MAX_WRONG, now)
            .map_or(Ok(()), |ms| Err(RetryAfter { ms }))
    }

    /// Counts one wrong password.
    pub fn record(&self, credential_id: &str) {
        let mut windows = self.lock();
        let now = self.clock.monotonic_ms();
        windows.tick(now);
        let place = windows.place(credential_id.into(), Box::default(), 0, now);
        windows.record(place, now);
    }

    fn lock(&self) -> MutexGuard<'_, KeyedWindows<Box<str>>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
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

    #[test]
    fn thirty_are_answered_and_then_the_credential_waits() {
        let (clock, wrong) = wrong_passwords();
        for _ in 0..30 {
            assert_eq!(wrong.check("ses_1"), Ok(()));
            wrong.record("ses_1");
            clock.advance(Duration::from_secs(1));
        }
        assert_eq!(wrong.check("ses_1"), Err(RetryAfter { ms: 570_000 }));
        assert_eq!(wrong.check("ses_2"), Ok(()));
        clock.advance(Duration::from_millis(569_999));
        assert_eq!(wrong.check("ses_1"), Err(RetryAfter { ms: 1 }));
        clock.advance(Duration::from_millis(1));
        assert_eq!(wrong.check("ses_1"), Ok(()));
        wrong.record("ses_1");
        assert_eq!(wrong.check("ses_1"), Err(RetryAfter { ms: 1_000 }));
    }

    #[test]
    fn the_table_is_bounded() {
        let (_, wrong) = wrong_passwords();
        for number in 0..=CAPACITY {
            wrong.record(&number.to_string());
        }
        assert_eq!(wrong.lock().len(), CAPACITY);
        for _ in 1..MAX_WRONG {
            wrong.record("one more");
        }
        assert!(wrong.check("another").is_err(), "newcomers share one count");
        assert_eq!(wrong.check("0"), Ok(()));
    }
}
