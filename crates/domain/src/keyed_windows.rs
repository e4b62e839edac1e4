//! A bounded table of sliding windows. When the table is full, new keys share a window.

use crate::sliding_window::SlidingWindow;
use std::collections::HashMap;
use std::hash::Hash;

/// The minimum interval between sweeps while the table is full, in milliseconds.
const FULL_SWEEP_MS: u64 = 1_000;

/// Sliding windows of one length, by key.
#[derive(Debug)]
pub struct KeyedWindows<K> {
    own: HashMap<K, SlidingWindow>,
    shared: HashMap<K, SlidingWindow>,
    window_ms: u32,
    capacity: usize,
    swept_at_ms: u64,
}

/// The window that counts a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowKey<K> {
    /// The key's own window.
    Own(K),
    /// A window shared with other keys, because the table is full.
    Shared(K),
}

impl<K: Eq + Hash> KeyedWindows<K> {
    /// Creates an empty table for at most `capacity` keys.
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

    /// Drops expired windows at most once per window length, which limits the work per event. Call it before any
    /// other method, with the same time, which must never decrease.
    pub fn tick(&mut self, now_ms: u64) {
        if now_ms.saturating_sub(self.swept_at_ms) >= u64::from(self.window_ms) {
            self.sweep(now_ms);
        }
    }

    /// Drops every expired window and releases unused memory.
    pub fn sweep(&mut self, now_ms: u64) {
        let window_ms = self.window_ms;
        // Every event was recorded less than one window after the last sweep (see `tick`), so after two windows all
        // have expired. Without this check, 32-bit ages could wrap around.
        let all_passed = now_ms.saturating_sub(self.swept_at_ms) >= 2 * u64::from(window_ms);
        for windows in [&mut self.own, &mut self.shared] {
            windows.retain(|_, window| !all_passed && !window.is_idle(window_ms, now_ms));
            if windows.capacity() > 4 * windows.len() {
                windows.shrink_to(2 * windows.len());
            }
        }
        self.swept_at_ms = now_ms;
    }

    /// Returns the window that counts `key`: its own if it exists or if more than `promised` slots are free, otherwise
    /// the window of `shared`.
    pub fn place(&mut self, key: K, shared: K, promised: usize, now_ms: u64) -> WindowKey<K> {
        if self.own.contains_key(&key) || self.has_room(promised, now_ms) {
            WindowKey::Own(key)
        } else {
            WindowKey::Shared(shared)
        }
    }

    /// Returns whether recording at `place` takes another slot.
    pub fn is_new(&self, place: &WindowKey<K>) -> bool {
        matches!(place, WindowKey::Own(key) if !self.own.contains_key(key))
    }

    /// Returns the milliseconds until `limit` allows one more event; `None` if there is no wait.
    pub fn wait(&self, place: &WindowKey<K>, limit: u32, now_ms: u64) -> Option<u64> {
        let window = match place {
            WindowKey::Own(key) => self.own.get(key),
            WindowKey::Shared(key) => self.shared.get(key),
        };
        window?.wait(limit, self.window_ms, now_ms)
    }

    /// Counts one event.
    pub fn record(&mut self, place: WindowKey<K>, now_ms: u64) {
        let window = match place {
            WindowKey::Own(key) => self.own.entry(key).or_default(),
            WindowKey::Shared(key) => self.shared.entry(key).or_default(),
        };
        window.record(self.window_ms, now_ms);
    }

    /// Removes an event that was counted at `at_ms`. Does nothing if its window has been dropped in the meantime.
    pub fn take_back(&mut self, place: &WindowKey<K>, at_ms: u64) {
        let window = match place {
            WindowKey::Own(key) => self.own.get_mut(key),
            WindowKey::Shared(key) => self.shared.get_mut(key),
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

    /// Returns the number of keys with their own window.
    pub fn len(&self) -> usize {
        self.own.len()
    }

    pub fn is_empty(&self) -> bool {
        self.own.is_empty()
    }

    /// Estimates the heap memory in bytes. Assumes that the hash table stores 7 entries per 8 slots.
    pub fn heap_bytes(&self) -> usize {
        // An allocation costs about 16 bytes of overhead.
        let windows: usize = self
            .own
            .values()
            .map(|window| window.heap_bytes() + 16)
            .sum();
        let slots = self.own.capacity() / 7 * 8;
        windows + slots * (size_of::<(K, SlidingWindow)>() + 1)
    }
}
