//! A bounded table of sliding windows. When it is full, keys it does not know share a window.

use crate::sliding_window::SlidingWindow;
use std::collections::HashMap;
use std::hash::Hash;

/// While the table is full, how often it is searched for room at most.
const FULL_SWEEP_MS: u64 = 1_000;

/// Windows of one length by key.
#[derive(Debug)]
pub struct KeyedWindows<K> {
    own: HashMap<K, SlidingWindow>,
    shared: HashMap<K, SlidingWindow>,
    window_ms: u32,
    capacity: usize,
    swept_at_ms: u64,
}

/// Where a key is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place<K> {
    /// In a window of its own.
    Own(K),
    /// Together with others, because the table is full.
    Shared(K),
}

impl<K: Eq + Hash> KeyedWindows<K> {
    /// An empty table for at most `capacity` keys.
    pub fn new(window_ms: u32, capacity: usize, now_ms: u64) -> Self {
        let (own, shared) = (HashMap::new(), HashMap::new());
        Self {
            own,
            shared,
            window_ms,
            capacity,
            swept_at_ms: now_ms,
        }
    }

    /// Call before anything else with the same time, which must never go back. Forgets what has
    /// passed once per window, so each event is looked at a bounded number of times.
    pub fn tick(&mut self, now_ms: u64) {
        if now_ms.saturating_sub(self.swept_at_ms) >= u64::from(self.window_ms) {
            self.sweep(now_ms);
        }
    }

    /// Forgets every window that has passed and gives back memory no longer needed.
    pub fn sweep(&mut self, now_ms: u64) {
        let window_ms = self.window_ms;
        // Every event was recorded less than one window after the last sweep (see `tick`). After
        // two windows all have passed; saying so here keeps 32-bit ages from wrapping.
        let all_passed = now_ms.saturating_sub(self.swept_at_ms) >= 2 * u64::from(window_ms);
        for windows in [&mut self.own, &mut self.shared] {
            windows.retain(|_, window| !all_passed && !window.is_idle(window_ms, now_ms));
            if windows.capacity() > 4 * windows.len() {
                windows.shrink_to(2 * windows.len());
            }
        }
        self.swept_at_ms = now_ms;
    }

    /// Where `key` is counted, with `promised` places already spoken for.
    pub fn place(&mut self, key: K, shared: K, promised: usize, now_ms: u64) -> Place<K> {
        if self.own.contains_key(&key) || self.has_room(promised, now_ms) {
            Place::Own(key)
        } else {
            Place::Shared(shared)
        }
    }

    /// Whether recording there takes one more place.
    pub fn is_new(&self, place: &Place<K>) -> bool {
        matches!(place, Place::Own(key) if !self.own.contains_key(key))
    }

    /// How long until `limit` allows one more; `None` is now.
    pub fn wait(&self, place: &Place<K>, limit: u32, now_ms: u64) -> Option<u64> {
        let window = match place {
            Place::Own(key) => self.own.get(key),
            Place::Shared(key) => self.shared.get(key),
        };
        window?.wait(limit, self.window_ms, now_ms)
    }

    /// Counts one event.
    pub fn record(&mut self, place: Place<K>, now_ms: u64) {
        let window = match place {
            Place::Own(key) => self.own.entry(key).or_default(),
            Place::Shared(key) => self.shared.entry(key).or_default(),
        };
        window.record(self.window_ms, now_ms);
    }

    /// Takes back an event that was counted there at this moment. Nothing happens when its window was
    /// forgotten since.
    pub fn take_back(&mut self, place: &Place<K>, at_ms: u64) {
        let window = match place {
            Place::Own(key) => self.own.get_mut(key),
            Place::Shared(key) => self.shared.get_mut(key),
        };
        if let Some(window) = window {
            window.take_back(at_ms);
        }
    }

    fn has_room(&mut self, promised: usize, now_ms: u64) -> bool {
        let is_full = |windows: &Self| windows.own.len() + promised >= windows.capacity;
        if is_full(self) && now_ms.saturating_sub(self.swept_at_ms) >= FULL_SWEEP_MS {
            self.sweep(now_ms);
        }
        !is_full(self)
    }

    /// How many keys have a window of their own.
    pub fn len(&self) -> usize {
        self.own.len()
    }

    /// Whether no key has one.
    pub fn is_empty(&self) -> bool {
        self.own.is_empty()
    }

    /// An estimate of the memory held, from the table's layout of 7 entries per 8 slots.
    pub fn heap_bytes(&self) -> usize {
        // A heap block costs 16 bytes beside what it holds.
        let windows: usize = self
            .own
            .values()
            .map(|window| window.heap_bytes() + 16)
            .sum();
        let slots = self.own.capacity() / 7 * 8;
        windows + slots * (size_of::<(K, SlidingWindow)>() + 1)
    }
}
