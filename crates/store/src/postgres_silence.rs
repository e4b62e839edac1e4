//! Detects connections to a server that no longer responds. If one connection is silent, the network may have
//! dropped all of them. Connections that have not received an answer since then are replaced before use. A
//! statement that has waited for seconds is only a suspicion, because the server may be slow. In this case, only
//! connections that have received nothing since the statement was sent are replaced.

use deadpool_postgres::StatementCache;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Time without a response after which a connection is suspected to be silent. Few statements take so long. A write
/// that begins within this time may also wait for a silent connection. Each wait takes 12 seconds, so both writes
/// end within 15 seconds.
const SUSPECTED: Duration = Duration::from_secs(2);

/// The silence of a server, shared by its connections. The statement cache of a connection identifies the
/// connection.
pub(crate) type ServerSilence = Silence<StatementCache>;

/// The known silence of a server. `C` is a part of a connection that identifies it.
pub(crate) struct Silence<C>(Mutex<Known<C>>);

/// The latest answered statement of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answered {
    /// When the statement was sent.
    pub(crate) sent: Instant,
    /// When its response arrived.
    pub(crate) received: Instant,
}

impl Answered {
    /// Creates the record of a statement that was sent at this time and whose response has just arrived.
    pub(crate) fn now(sent: Instant) -> Self {
        let received = Instant::now();
        Self { sent, received }
    }
}

struct Known<C> {
    /// When the latest unanswered statement was sent. Only statements whose response timed out count.
    unanswered: Option<Instant>,
    /// The send times of the statements that currently wait for a response, in any order.
    pending: Vec<Instant>,
    /// The latest answered statement of each open connection, recorded when the connection was last returned to a
    /// pool.
    answered: Vec<(Weak<C>, Answered)>,
}

impl<C> Default for Silence<C> {
    fn default() -> Self {
        Self(Mutex::new(Known {
            unanswered: None,
            pending: Vec::new(),
            answered: Vec::new(),
        }))
    }
}

impl<C> fmt::Debug for Silence<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Silence").finish_non_exhaustive()
    }
}

impl<C> Silence<C> {
    fn lock(&self) -> MutexGuard<'_, Known<C>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a statement sent at this time was not answered.
    pub(crate) fn note(&self, sent: Instant) {
        let mut known = self.lock();
        known.unanswered = known.unanswered.max(Some(sent));
    }

    /// Records that a statement sent at this time waits for its response. The record ends when the returned value
    /// is dropped.
    pub(crate) fn wait(self: &Arc<Self>, sent: Instant) -> Pending<C> {
        self.lock().pending.push(sent);
        Pending {
            silence: Arc::clone(self),
            sent,
        }
    }

    /// Returns whether a connection may be silent. This is so if another connection never got an answer to a
    /// statement that was sent after the latest answered statement of this one.
    pub(crate) fn concerns(&self, answered: Answered) -> bool {
        let unanswered = self.lock().unanswered;
        unanswered.is_some_and(|sent| answered.sent <= sent)
    }

    /// Returns whether a connection should be replaced before use. This is so if it [may be
    /// silent](Self::concerns), or if it has received nothing since another connection sent a statement that has
    /// waited for seconds.
    pub(crate) fn is_suspected(&self, answered: Answered) -> bool {
        let is_late = |sent: &Instant| sent.elapsed() >= SUSPECTED && answered.received <= *sent;
        self.concerns(answered) || self.lock().pending.iter().any(is_late)
    }

    /// Records the latest answered statement of a connection.
    pub(crate) fn note_answer(&self, connection: &Arc<C>, answered: Answered) {
        let mut known = self.lock();
        let is_other = |of: &Weak<C>| of.strong_count() > 0 && !is_of(of, connection);
        known.answered.retain(|(of, _)| is_other(of));
        known.answered.push((Arc::downgrade(connection), answered));
    }

    /// Returns the latest answered statement of a connection; `None` if it has not been recorded.
    pub(crate) fn last_answer(&self, connection: &Arc<C>) -> Option<Answered> {
        let known = self.lock();
        let mut answers = known.answered.iter();
        let found = answers.find(|(of, _)| is_of(of, connection));
        found.map(|(_, answered)| *answered)
    }
}

/// A statement that waits for its response.
pub(crate) struct Pending<C> {
    silence: Arc<Silence<C>>,
    sent: Instant,
}

impl<C> Drop for Pending<C> {
    fn drop(&mut self) {
        let mut known = self.silence.lock();
        if let Some(place) = known.pending.iter().position(|sent| *sent == self.sent) {
            known.pending.swap_remove(place);
        }
    }
}

fn is_of<C>(one: &Weak<C>, connection: &Arc<C>) -> bool {
    std::ptr::eq(one.as_ptr(), Arc::as_ptr(connection))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conn::{Conn, Raw};
    use std::time::Duration;

    /// Returns the record of a statement that was answered immediately.
    fn answered_at(time: Instant) -> Answered {
        Answered {
            sent: time,
            received: time,
        }
    }

    #[test]
    fn connections_that_answered_later_than_the_unanswered_statement_are_trusted() {
        let (silence, start) = (Silence::<()>::default(), Instant::now());
        let at = |seconds| answered_at(start + Duration::from_secs(seconds));
        assert!(!silence.concerns(at(0)));
        silence.note(at(5).sent);
        silence.note(at(3).sent);
        assert!(silence.concerns(at(4)));
        assert!(silence.concerns(at(5)));
        assert!(!silence.concerns(at(6)));
    }

    #[test]
    fn a_statement_without_a_response_for_seconds_is_suspicious_until_it_has_one() {
        let silence = Arc::new(Silence::<()>::default());
        let now = Instant::now();
        let ago = |time: Duration| now.checked_sub(time).unwrap();
        let sent = ago(SUSPECTED);
        let earlier = answered_at(ago(2 * SUSPECTED));
        let recent = silence.wait(now + SUSPECTED);
        assert!(!silence.is_suspected(earlier));
        let late = silence.wait(sent);
        assert!(silence.is_suspected(earlier) && silence.is_suspected(answered_at(sent)));
        // The server may just be slow.
        assert!(!silence.concerns(earlier));
        // A connection that has since received a response is not replaced.
        let busy = Answered {
            sent: earlier.sent,
            received: sent + Duration::from_millis(1),
        };
        assert!(!silence.is_suspected(busy));
        drop(late);
        assert!(!silence.is_suspected(earlier));
        drop(recent);
        assert!(silence.lock().pending.is_empty());
    }

    #[test]
    fn the_latest_answer_of_each_open_connection_is_known() {
        let (silence, start) = (Silence::default(), Instant::now());
        let at = |seconds| answered_at(start + Duration::from_secs(seconds));
        let (one, other) = (Arc::new(1), Arc::new(1));
        assert_eq!(silence.last_answer(&one), None);
        silence.note_answer(&one, at(1));
        silence.note_answer(&other, at(2));
        silence.note_answer(&one, at(3));
        assert_eq!(silence.last_answer(&one), Some(at(3)));
        assert_eq!(silence.last_answer(&other), Some(at(2)));
        drop(other);
        silence.note_answer(&one, at(4));
        assert_eq!(silence.lock().answered.len(), 1);
    }

    #[test]
    fn a_connection_that_was_in_use_stays_usable_while_another_one_is_late() {
        let mut conn = Conn::new(Raw::Sqlite(rusqlite::Connection::open_in_memory().unwrap()));
        let silence = Arc::new(Silence::default());
        conn.pipeline.silence = Some(Arc::clone(&silence));
        let sent = Instant::now().checked_sub(SUSPECTED).unwrap();
        conn.pipeline.answered = answered_at(sent);
        assert!(conn.is_usable() && !conn.is_suspected());
        let _late = silence.wait(sent);
        assert!(conn.is_usable() && conn.is_suspected());
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
