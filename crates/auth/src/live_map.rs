//! A bounded map from a credential's hash to its live record. A revoked record is removed and marked as ended, so
//! that other holders of the record detect it. The epoch prevents inserting a row that was read before a
//! revocation.

use crate::live_credential::{Live, TokenHash};
use gatehouse_domain::Timestamp;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The maximum number of records of one kind in memory.
pub(crate) const CAPACITY: usize = 100_000;

#[derive(Debug)]
struct Records<T> {
    by_hash: HashMap<TokenHash, Arc<T>>,
    epoch: u64,
}

#[derive(Debug)]
pub(crate) struct LiveMap<T> {
    capacity: usize,
    complete: AtomicBool,
    records: RwLock<Records<T>>,
}

impl<T: Live> LiveMap<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        let records = RwLock::new(Records {
            by_hash: HashMap::new(),
            epoch: 0,
        });
        Self {
            capacity: capacity.max(1),
            complete: AtomicBool::new(false),
            records,
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Records<T>> {
        self.records.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Records<T>> {
        self.records.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn find(&self, hash: &TokenHash) -> Option<Arc<T>> {
        self.read().by_hash.get(hash).cloned()
    }

    /// Returns whether memory contains every record of the database. A miss then needs no database lookup.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete.load(Ordering::Acquire)
    }

    pub(crate) fn set_complete(&self, complete: bool) {
        self.complete.store(complete, Ordering::Release);
    }

    /// Returns a counter that changes with each revocation. Read it before reading a row.
    pub(crate) fn epoch(&self) -> u64 {
        self.read().epoch
    }

    /// Inserts a record unless something was revoked since `epoch`. Returns the record in the map.
    pub(crate) fn insert_at(&self, epoch: u64, record: T) -> Option<Arc<T>> {
        let mut records = self.write();
        (records.epoch == epoch).then(|| self.put(&mut records, record))
    }

    /// Inserts a record. Call it only under the lock that orders all changes.
    pub(crate) fn insert(&self, record: T) -> Arc<T> {
        self.put(&mut self.write(), record)
    }

    fn put(&self, records: &mut Records<T>, record: T) -> Arc<T> {
        let full = records.by_hash.len() >= self.capacity;
        if full && !records.by_hash.contains_key(record.hash()) {
            self.make_room(records);
        }
        match records.by_hash.entry(*record.hash()) {
            Entry::Occupied(there) => Arc::clone(there.get()),
            Entry::Vacant(place) => Arc::clone(place.insert(Arc::new(record))),
        }
    }

    /// Removes one record that has no other reference. A record that a socket references must stay, because this
    /// map notifies the socket when its credential ends.
    fn make_room(&self, records: &mut Records<T>) {
        let idle = |record: &&Arc<T>| Arc::strong_count(record) == 1;
        let found = records.by_hash.values().find(idle).map(|r| *r.hash());
        if let Some(hash) = found {
            self.set_complete(false);
            records.by_hash.remove(&hash);
        }
    }

    /// Ends every record that `ends` selects. Returns their number. Advances the epoch even if there is none,
    /// because another task may be inserting such a row.
    pub(crate) fn end_where(&self, mut ends: impl FnMut(&T) -> bool) -> usize {
        let mut records = self.write();
        records.epoch += 1;
        let before = records.by_hash.len();
        records.by_hash.retain(|_, record| {
            let ended = ends(record);
            if ended {
                record.end();
            }
            !ended
        });
        before - records.by_hash.len()
    }

    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        self.read().by_hash.values().cloned().collect()
    }

    /// Returns the records whose last use should be written now.
    pub(crate) fn due(&self, now: Timestamp, all: bool) -> Vec<(Arc<T>, Timestamp)> {
        let records = self.read();
        let due = |record: &Arc<T>| record.due(now, all).map(|at| (Arc::clone(record), at));
        records.by_hash.values().filter_map(due).collect()
    }

    pub(crate) fn has_expired(&self, now: Timestamp) -> bool {
        self.read().by_hash.values().any(|r| r.is_expired(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live_credential::{LiveSession, hash_of, to_hex};
    use gatehouse_domain::AuthSessionId;
    use gatehouse_store::AuthSessionRow;

    fn session(name: &str) -> LiveSession {
        let at = Timestamp::from_millis(0);
        let row = AuthSessionRow {
            id: AuthSessionId::from_text(name),
            token_hash: to_hex(&hash_of(name)),
            login_method: "password".into(),
            user_agent: None,
            client_ip: None,
            created_at: at,
            last_seen_at: at,
            expires_at: Timestamp::from_millis(1000),
            confirmed_at: at,
            made_by: None,
            passkey_id: None,
        };
        LiveSession::from_row(&row).unwrap()
    }

    #[test]
    fn an_ended_record_is_seen_by_its_holder_and_does_not_come_back() {
        let map = LiveMap::new(10);
        let held = map.insert(session("a"));
        let epoch = map.epoch();
        assert!(held.is_live(Timestamp::from_millis(999)));
        assert!(!held.is_live(Timestamp::from_millis(1000)), "expired");
        assert_eq!(map.end_where(|s| s.id().as_str() == "a"), 1);
        assert!(!held.is_live(Timestamp::from_millis(0)));
        assert!(map.find(&hash_of("a")).is_none());
        assert!(map.insert_at(epoch, session("a")).is_none(), "read before");
        assert!(map.insert_at(map.epoch(), session("a")).is_some());
    }

    #[test]
    fn the_map_is_bounded_and_never_drops_what_is_held() {
        let map = LiveMap::new(2);
        map.set_complete(true);
        let held = map.insert(session("a"));
        drop(map.insert(session("b")));
        assert!(map.is_complete());
        drop(map.insert(session("c")));
        assert_eq!(map.all().len(), 2);
        assert!(!map.is_complete());
        assert!(Arc::ptr_eq(&held, &map.find(&hash_of("a")).unwrap()));
        assert!(map.find(&hash_of("c")).is_some());
    }

    #[test]
    fn a_second_insert_answers_the_first_record() {
        let map = LiveMap::new(2);
        let first = map.insert(session("a"));
        assert!(Arc::ptr_eq(&first, &map.insert(session("a"))));
    }

    #[test]
    fn use_is_written_once_a_minute() {
        let at = Timestamp::from_millis;
        let map = LiveMap::new(2);
        let a = map.insert(session("a"));
        a.touch(at(10));
        assert!(map.due(at(59_999), false).is_empty());
        assert_eq!(map.due(at(59_999), true).len(), 1);
        let due = map.due(at(60_000), false);
        assert_eq!(due.len(), 1);
        a.written(at(10));
        assert!(map.due(at(200_000), true).is_empty());
    }
}
