//! The tool calls that run on this node, for `notifications/cancelled`
//! (<https://modelcontextprotocol.io/specification/2025-06-18/basic/utilities/cancellation>). The notification is a
//! separate HTTP request, so the call is found by its caller, its session and its ID.

use crate::memory_budget::Holder;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio_util::sync::CancellationToken;

/// The longest ID of a call that can be canceled, in bytes.
const MAX_ID: usize = 256;

/// A request of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) caller: Holder,
    /// The session that the client names. It distinguishes programs that share an API key and number their requests.
    pub(super) session: Option<String>,
    /// The ID as the client spells it.
    pub(super) id: String,
}

/// The running calls. Ended calls are removed when the next call begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunningTools(Arc<Mutex<Vec<Running>>>);

type Running = (Key, Weak<CancellationToken>);

impl RunningTools {
    /// Adds a call. The call ends when the token is dropped.
    pub(super) fn begin(&self, key: Key) -> Arc<CancellationToken> {
        let token = Arc::new(CancellationToken::new());
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|(_, token)| token.strong_count() > 0);
        if key.id.len() <= MAX_ID {
            running.push((key, Arc::downgrade(&token)));
        }
        token
    }

    /// Stops a call. Does nothing if two calls have the same key, because the notification is then ambiguous.
    pub(super) fn cancel(&self, key: &Key) {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let named = running.iter().filter(|(known, _)| known == key);
        let named: Vec<Arc<CancellationToken>> =
            named.filter_map(|(_, token)| token.upgrade()).collect();
        if let [token] = &named[..] {
            token.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_call_of_this_caller_session_and_id_is_stopped() {
        let key = |caller: &str, session: Option<&str>, id: &str| Key {
            caller: Holder::Known(caller.into()),
            session: session.map(str::to_owned),
            id: id.to_owned(),
        };
        let tools = RunningTools::default();
        let own = tools.begin(key("a", Some("s"), "1"));
        let others = [
            tools.begin(key("b", Some("s"), "1")),
            tools.begin(key("a", None, "1")),
            tools.begin(key("a", Some("s"), "2")),
        ];
        let twin = tools.begin(key("a", Some("s"), "1"));
        tools.cancel(&key("a", Some("s"), "1"));
        assert!(!own.is_cancelled() && !twin.is_cancelled(), "ambiguous");
        drop(twin);
        tools.cancel(&key("a", Some("s"), "1"));
        assert!(own.is_cancelled());
        assert!(others.iter().all(|other| !other.is_cancelled()));
        drop((own, others));
        drop(tools.begin(key("a", None, "3")));
        assert_eq!(tools.0.lock().unwrap().len(), 1);
    }

    #[test]
    fn a_call_with_a_long_id_is_not_kept() {
        let tools = RunningTools::default();
        for (bytes, is_kept) in [(MAX_ID, true), (MAX_ID + 1, false)] {
            let key = Key {
                caller: Holder::Known("a".into()),
                session: None,
                id: "1".repeat(bytes),
            };
            let token = tools.begin(key.clone());
            tools.cancel(&key);
            assert_eq!(token.is_cancelled(), is_kept);
        }
    }
}
