//! Counts the open conversations, in total and per caller. Each conversation uses memory for audio and a detector.

use gatehouse_rpc::memory_budget::Holder;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of conversations.
pub(super) const MAX_TALKS: usize = 64;
/// The maximum number of conversations per credential.
pub(super) const MAX_TALKS_PER_HOLDER: usize = 16;

/// The open conversations.
#[derive(Clone, Debug, Default)]
pub(crate) struct TalkPlaces(Arc<Mutex<HashMap<Holder, usize>>>);

/// A slot for a conversation. Dropping it releases the slot.
#[derive(Debug)]
pub(super) struct TalkPlace {
    places: TalkPlaces,
    holder: Holder,
}

impl TalkPlaces {
    fn lock(&self) -> MutexGuard<'_, HashMap<Holder, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a slot. Returns `None` if there are too many conversations.
    pub(super) fn admit(&self, holder: Holder) -> Option<TalkPlace> {
        let mut held = self.lock();
        let (all, own) = (held.values().sum::<usize>(), held.get(&holder).copied());
        if all >= MAX_TALKS || own.unwrap_or(0) >= MAX_TALKS_PER_HOLDER {
            return None;
        }
        *held.entry(holder.clone()).or_default() += 1;
        drop(held);
        Some(TalkPlace {
            places: self.clone(),
            holder,
        })
    }
}

impl Drop for TalkPlace {
    fn drop(&mut self) {
        let mut held = self.places.lock();
        if let Some(count) = held.get_mut(&self.holder) {
            *count -= 1;
            if *count == 0 {
                held.remove(&self.holder);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(name: &str) -> Holder {
        Holder::Known(name.into())
    }

    #[test]
    fn a_caller_has_16_conversations_and_all_have_64() {
        let places = TalkPlaces::default();
        let mut held: Vec<_> = (0..16)
            .map(|_| places.admit(holder("a")).unwrap())
            .collect();
        assert!(places.admit(holder("a")).is_none());
        held.pop();
        held.push(places.admit(holder("a")).unwrap());
        for n in 0..48 {
            held.push(places.admit(holder(&format!("{}", n / 16))).unwrap());
        }
        assert!(places.admit(holder("b")).is_none());
        drop(held);
        assert!(places.lock().is_empty());
    }
}
