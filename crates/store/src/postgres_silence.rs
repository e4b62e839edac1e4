//! Connections to a server that may be silent. If one connection is silent, the network may have dropped all of them.
//! Connections that have not answered since are replaced before use.

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
    use crate::conn::{Conn, Raw};
    use std::sync::Arc;
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

    #[test]
    fn a_connection_stays_intact_when_another_one_is_silent() {
        let mut conn = Conn::new(Raw::Sqlite(rusqlite::Connection::open_in_memory().unwrap()));
        let silence = Arc::new(Silence::default());
        conn.pipeline.silence = Some(Arc::clone(&silence));
        assert!(conn.is_usable() && conn.is_intact());
        silence.note(Instant::now());
        assert!(!conn.is_usable() && conn.is_intact());
        conn.mark_unusable();
        assert!(!conn.is_usable() && !conn.is_intact());
    }
}
