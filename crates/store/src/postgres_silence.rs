//! Connections to a server that may be silent. A network device that forgets connections forgets all of them: after one
//! has not answered, the others are replaced before a statement waits for them, too.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The latest time at which a statement was sent that the server never answered.
#[derive(Debug, Default)]
pub(crate) struct Silence(Mutex<Option<Instant>>);

impl Silence {
    /// Records that a statement sent at this time was not answered.
    pub(crate) fn note(&self, sent: Instant) {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *latest = (*latest).max(Some(sent));
    }

    /// Whether a connection that last answered a statement sent at this time may be silent.
    pub(crate) fn concerns(&self, answered: Instant) -> bool {
        let latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        latest.is_some_and(|sent| answered <= sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn connections_that_answered_later_than_the_unanswered_statement_are_trusted() {
        let (silence, start) = (Silence::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(!silence.concerns(at(0)));
        silence.note(at(5));
        silence.note(at(3));
        assert!(silence.concerns(at(4)));
        assert!(silence.concerns(at(5)));
        assert!(!silence.concerns(at(6)));
    }
}
