//! Combines failures. For each client, kind and minute, the first failure is written immediately, and the others
//! become one row after the minute. A kind has at most [`ROWS`] rows per minute; further failures become one
//! additional row. Pure: returns the rows to write.

use gatehouse_domain::{Actor, ClientKey, Timestamp};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};

const WINDOW_MS: u64 = 60_000;
/// The maximum number of rows per kind and minute, without the additional row.
const ROWS: u32 = 100;

type Key = (ClientKey, &'static str);

/// The current minute of one client and kind. Its first failure already has a row.
#[derive(Debug)]
struct Window {
    began_ms: u64,
    since: Timestamp,
    actor: Actor,
    more: u64,
}

/// The current minute of one kind, over all clients.
#[derive(Debug)]
struct KindWindow {
    began_ms: u64,
    since: Timestamp,
    rows: u32,
    rest: u64,
}

impl KindWindow {
    const fn new(since: Timestamp, began_ms: u64) -> Self {
        Self {
            began_ms,
            since,
            rows: 0,
            rest: 0,
        }
    }

    fn take_row(&mut self) -> bool {
        let free = self.rows < ROWS;
        self.rows += u32::from(free);
        free
    }
}

/// One row that summarizes the failures after the first one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) kind: &'static str,
    pub(crate) actor: Actor,
    pub(crate) more: u64,
    pub(crate) since: Timestamp,
}

/// The rows to write for one failure.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FailureRecord {
    /// Whether this failure gets its own row.
    pub(crate) first: bool,
    /// Summaries of earlier minutes.
    pub(crate) ended: Vec<Summary>,
}

#[derive(Debug, Default)]
struct Windows {
    clients: HashMap<Key, Window>,
    kinds: HashMap<&'static str, KindWindow>,
}

/// The windows that have not ended.
#[derive(Debug, Default)]
pub(crate) struct FailureLog {
    windows: Mutex<Windows>,
}

fn has_passed(began_ms: u64, mono_ms: u64) -> bool {
    mono_ms.saturating_sub(began_ms) >= WINDOW_MS
}

fn many_clients() -> Actor {
    Actor {
        name: "many clients".to_owned(),
        client_ip: None,
        client: ClientKey::of(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
    }
}

impl Windows {
    /// Ends the window of a kind. If the kind has used up its rows, adds the counts of its clients to the summary
    /// of the kind.
    fn end_kind(&mut self, kind: &'static str) -> Option<Summary> {
        let mut ended = self.kinds.remove(kind)?;
        if ended.rows >= ROWS {
            let of_kind = self.clients.extract_if(|(_, known), _| *known == kind);
            ended.rest += of_kind.map(|(_, window)| window.more).sum::<u64>();
        }
        (ended.rest > 0).then(|| Summary {
            kind,
            actor: many_clients(),
            more: ended.rest,
            since: ended.since,
        })
    }

    /// Ends the window of a client. Returns a summary of the client if the kind has a row left. Otherwise adds the
    /// count to the summary of the kind.
    fn end_client(
        &mut self,
        (kind, window): (&'static str, Window),
        now: Timestamp,
        mono_ms: u64,
    ) -> Option<Summary> {
        if window.more == 0 {
            return None;
        }
        let of_kind = self.kinds.entry(kind);
        let of_kind = of_kind.or_insert_with(|| KindWindow::new(now, mono_ms));
        if !of_kind.take_row() {
            of_kind.rest += window.more;
            return None;
        }
        Some(Summary {
            kind,
            actor: window.actor,
            more: window.more,
            since: window.since,
        })
    }
}

impl FailureLog {
    fn lock(&self) -> MutexGuard<'_, Windows> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note(
        &self,
        kind: &'static str,
        actor: &Actor,
        now: Timestamp,
        mono_ms: u64,
    ) -> FailureRecord {
        let mut guard = self.lock();
        let windows = &mut *guard;
        let mut ended = Vec::new();
        if windows
            .kinds
            .get(kind)
            .is_some_and(|window| has_passed(window.began_ms, mono_ms))
        {
            ended.extend(windows.end_kind(kind));
        }
        let key = (actor.client, kind);
        match windows.clients.get_mut(&key) {
            Some(window) if !has_passed(window.began_ms, mono_ms) => {
                window.more += 1;
                return FailureRecord {
                    first: false,
                    ended,
                };
            }
            _ => {}
        }
        if let Some(before) = windows.clients.remove(&key) {
            ended.extend(windows.end_client((kind, before), now, mono_ms));
        }
        let of_kind = windows.kinds.entry(kind);
        let of_kind = of_kind.or_insert_with(|| KindWindow::new(now, mono_ms));
        let first = of_kind.take_row();
        if first {
            let window = Window {
                began_ms: mono_ms,
                since: now,
                actor: actor.clone(),
                more: 0,
            };
            windows.clients.insert(key, window);
        } else {
            of_kind.rest += 1;
        }
        FailureRecord { first, ended }
    }

    /// Removes and returns the windows whose minute has passed, or all windows.
    pub(crate) fn take_ended(&self, now: Timestamp, mono_ms: u64, all: bool) -> Vec<Summary> {
        let mut guard = self.lock();
        let windows = &mut *guard;
        let passed = |began_ms| all || has_passed(began_ms, mono_ms);
        let kinds: Vec<_> = windows
            .kinds
            .iter()
            .filter(|(_, window)| passed(window.began_ms))
            .map(|(kind, _)| *kind)
            .collect();
        let mut ended: Vec<_> = kinds
            .into_iter()
            .filter_map(|kind| windows.end_kind(kind))
            .collect();
        let clients: Vec<_> = windows
            .clients
            .extract_if(|_, window| passed(window.began_ms))
            .map(|((_, kind), window)| (kind, window))
            .collect();
        for client in clients {
            ended.extend(windows.end_client(client, now, mono_ms));
        }
        if all {
            let kinds: Vec<_> = windows.kinds.keys().copied().collect();
            ended.extend(kinds.into_iter().filter_map(|kind| windows.end_kind(kind)));
        }
        ended
    }
}

#[cfg(test)]
mod tests;
