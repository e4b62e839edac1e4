//! Collapsing failures: of each client, kind and minute the first is a row at once, the others one
//! row when the minute has passed. Pure; what is to be written is handed back.

use gatehouse_domain::{Actor, ClientKey, Timestamp};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};

const WINDOW_MS: u64 = 60_000;
/// Clients and kinds told apart; further clients are one.
const CAPACITY: usize = 10_000;

type Key = (ClientKey, &'static str);

#[derive(Debug)]
struct Window {
    began_ms: u64,
    since: Timestamp,
    actor: Actor,
    more: u64,
}

/// What one row tells of the failures after the first.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) kind: &'static str,
    pub(crate) actor: Actor,
    pub(crate) more: u64,
    pub(crate) since: Timestamp,
}

/// What is to be written for one failure.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Noted {
    /// This failure is the first of its minute.
    pub(crate) first: bool,
    /// The minute before it.
    pub(crate) ended: Option<Summary>,
}

/// The minutes that are running.
#[derive(Debug, Default)]
pub(crate) struct FailureLog {
    windows: Mutex<HashMap<Key, Window>>,
}

fn summary(kind: &'static str, window: Window) -> Option<Summary> {
    (window.more > 0).then_some(Summary {
        kind,
        actor: window.actor,
        more: window.more,
        since: window.since,
    })
}

impl FailureLog {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Window>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note(
        &self,
        kind: &'static str,
        actor: &Actor,
        now: Timestamp,
        mono_ms: u64,
    ) -> Noted {
        let mut windows = self.lock();
        let mut key = (actor.client, kind);
        let mut actor = actor.clone();
        if windows.len() >= CAPACITY && !windows.contains_key(&key) {
            let nobody = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
            actor = Actor {
                name: "many clients".to_owned(),
                client_ip: None,
                client: ClientKey::of(nobody),
            };
            key.0 = actor.client;
        }
        let fresh = Window {
            began_ms: mono_ms,
            since: now,
            actor,
            more: 0,
        };
        match windows.entry(key) {
            Entry::Vacant(place) => {
                place.insert(fresh);
                Noted {
                    first: true,
                    ended: None,
                }
            }
            Entry::Occupied(mut there) => {
                if mono_ms.saturating_sub(there.get().began_ms) < WINDOW_MS {
                    there.get_mut().more += 1;
                    return Noted {
                        first: false,
                        ended: None,
                    };
                }
                let before = there.insert(fresh);
                Noted {
                    first: true,
                    ended: summary(kind, before),
                }
            }
        }
    }

    /// Takes out the minutes that have passed, or all.
    pub(crate) fn take_ended(&self, mono_ms: u64, all: bool) -> Vec<Summary> {
        let ended = |_: &Key, window: &mut Window| {
            all || mono_ms.saturating_sub(window.began_ms) >= WINDOW_MS
        };
        let mut windows = self.lock();
        let taken = windows.extract_if(ended);
        taken
            .filter_map(|((_, kind), window)| summary(kind, window))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    fn client(last: u8) -> Actor {
        let ip = IpAddr::V4(Ipv4Addr::new(192, 0, 2, last));
        Actor {
            name: "anonymous".into(),
            client_ip: Some(ip),
            client: ClientKey::of(ip),
        }
    }

    #[test]
    fn a_minute_is_one_row_at_once_and_one_at_its_end() {
        let log = FailureLog::default();
        let first = log.note("login.failed", &client(1), at(5), 0);
        assert_eq!(
            first,
            Noted {
                first: true,
                ended: None
            }
        );
        for ms in [1, 59_999] {
            assert!(!log.note("login.failed", &client(1), at(6), ms).first);
        }
        assert!(
            log.note("login.failed", &client(2), at(6), 1).first,
            "another client"
        );
        assert!(
            log.note("connect.failed", &client(1), at(6), 1).first,
            "another kind"
        );
        assert!(log.take_ended(59_999, false).is_empty());
        let ended = log.take_ended(60_000, false);
        let expected = Summary {
            kind: "login.failed",
            actor: client(1),
            more: 2,
            since: at(5),
        };
        assert_eq!(ended, [expected]);
        assert!(log.note("login.failed", &client(1), at(7), 60_000).first);
    }

    #[test]
    fn the_next_minute_hands_back_the_one_before() {
        let log = FailureLog::default();
        log.note("k", &client(1), at(0), 0);
        log.note("k", &client(1), at(0), 1);
        let noted = log.note("k", &client(1), at(9), 60_000);
        assert!(noted.first);
        assert_eq!(noted.ended.map(|summary| summary.more), Some(1));
        assert!(
            log.take_ended(60_001, true).is_empty(),
            "nothing after the first"
        );
    }

    #[test]
    fn the_table_is_bounded() {
        let log = FailureLog::default();
        for number in 0..CAPACITY + 5 {
            let bits = u32::try_from(number).unwrap();
            let ip = IpAddr::V4(Ipv4Addr::from_bits(bits + 1));
            let actor = Actor {
                name: "a".into(),
                client_ip: Some(ip),
                client: ClientKey::of(ip),
            };
            log.note("k", &actor, at(0), 0);
        }
        assert_eq!(log.lock().len(), CAPACITY + 1);
    }
}
