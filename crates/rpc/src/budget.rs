//! The memory that everything callers send and are sent may take: bodies, socket messages, the params
//! of calls in work, and answers until they are written. One budget for the process, charged while
//! bytes arrive and while answers are built. Guards give the bytes back, so that nothing stays charged
//! when a connection ends in an unusual way.

use gatehouse_auth::{Decision, Visit};
use gatehouse_domain::ClientKey;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The budget of a process, in bytes, unless its messages are so large that it needs more.
const USUAL_BYTES: usize = 256 * 1024 * 1024;
/// How many of the largest messages fit at least.
const LARGEST_MESSAGES: usize = 7;
/// Shares up to this size may use the last sixteenth of each limit, so that small calls are answered
/// while large ones fill the rest.
const SMALL_BYTES: usize = 64 * 1024;

/// How much may be held, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// By all together.
    pub total: usize,
    /// By one credential, or by one client that was let in without.
    pub each: usize,
    /// By all unauthenticated clients together.
    pub strangers: usize,
    /// By one of them.
    pub stranger: usize,
}

impl Limits {
    /// The limits of a process whose messages have at most so many bytes: 256 MiB, or seven messages
    /// where that is more; half of it for one credential, half for all strangers, and a quarter for one.
    pub fn for_messages(max_message_bytes: usize) -> Self {
        let total = USUAL_BYTES.max(max_message_bytes.saturating_mul(LARGEST_MESSAGES));
        Self {
            total,
            each: total / 2,
            strangers: total / 2,
            stranger: total / 4,
        }
    }

    /// The same limit for everything.
    pub const fn flat(bytes: usize) -> Self {
        Self {
            total: bytes,
            each: bytes,
            strangers: bytes,
            stranger: bytes,
        }
    }
}

/// Whom bytes are charged to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// A credential by its id, or a client that was let in without one.
    Known(Arc<str>),
    /// An unauthenticated client.
    Stranger(ClientKey),
}

impl Holder {
    /// Whom this request's bytes are charged to.
    pub fn of(visit: &Visit) -> Self {
        let Decision::Allowed(identity) = &visit.decision else {
            return Self::Stranger(visit.client.key);
        };
        let name = identity.actor_name();
        // These two names are shared by all who come that way.
        Self::Known(match name.as_str() {
            "loopback" | "password" => format!("{name} {}", visit.client.key).into(),
            _ => name.into(),
        })
    }
}

#[derive(Debug, Default)]
struct Held {
    total: usize,
    strangers: usize,
    each: HashMap<Holder, usize>,
}

/// The budget. A cheap handle.
#[derive(Clone)]
pub struct ByteBudget {
    limits: Limits,
    held: Arc<Mutex<Held>>,
}

impl fmt::Debug for ByteBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByteBudget")
            .field("limits", &self.limits)
            .field("held", &self.held_bytes())
            .finish()
    }
}

impl ByteBudget {
    /// A budget of which nothing is used.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            held: Arc::default(),
        }
    }

    /// An empty share of this holder.
    pub fn share(&self, holder: Holder) -> Share {
        Share {
            budget: self.clone(),
            holder,
            bytes: 0,
        }
    }

    /// How many bytes are held.
    pub fn held_bytes(&self) -> usize {
        self.lock().total
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that are charged to a holder until this is dropped.
#[must_use = "the bytes are given back when this is dropped"]
pub struct Share {
    budget: ByteBudget,
    holder: Holder,
    bytes: usize,
}

impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Share")
            .field("holder", &self.holder)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

impl Share {
    /// Charges so many more bytes; `false`, and nothing is charged, when they are not free.
    #[must_use]
    pub fn grow(&mut self, more: usize) -> bool {
        let Some(bytes) = self.bytes.checked_add(more) else {
            return false;
        };
        let fits = |held: usize, limit: usize| {
            let kept = if bytes > SMALL_BYTES { limit / 16 } else { 0 };
            held.saturating_add(more) <= limit - kept
        };
        let limits = &self.budget.limits;
        let mut held = self.budget.lock();
        let its = held.each.get(&self.holder).copied().unwrap_or(0);
        let has_room = fits(held.total, limits.total)
            && match self.holder {
                Holder::Known(_) => fits(its, limits.each),
                Holder::Stranger(_) => {
                    fits(its, limits.stranger) && fits(held.strangers, limits.strangers)
                }
            };
        if has_room && more > 0 {
            held.total += more;
            if matches!(self.holder, Holder::Stranger(_)) {
                held.strangers += more;
            }
            held.each.insert(self.holder.clone(), its + more);
            drop(held);
            self.bytes = bytes;
        }
        has_room
    }

    /// Gives back what is charged beyond so many bytes.
    pub fn shrink_to(&mut self, bytes: usize) {
        let Some(less) = self.bytes.checked_sub(bytes).filter(|less| *less > 0) else {
            return;
        };
        self.bytes = bytes;
        let mut held = self.budget.lock();
        held.total = held.total.saturating_sub(less);
        if matches!(self.holder, Holder::Stranger(_)) {
            held.strangers = held.strangers.saturating_sub(less);
        }
        match held.each.get_mut(&self.holder) {
            Some(its) if *its > less => *its -= less,
            _ => drop(held.each.remove(&self.holder)),
        }
    }

    /// Grows the buffer so that it has room for `more` bytes, and charges what it allocates: twice its
    /// size where that is free, but no more than `most` bytes in all unless the bytes need it. `false`, and nothing is
    /// changed, when that is not free. Charge nothing but this buffer to the share.
    #[must_use]
    pub fn reserve(&mut self, buffer: &mut Vec<u8>, more: usize, most: usize) -> bool {
        let needed = buffer.len().saturating_add(more);
        if needed <= buffer.capacity() {
            return true;
        }
        let doubled = buffer.capacity().saturating_mul(2).max(4096).min(most);
        for wanted in [doubled.max(needed), needed] {
            if self.grow(wanted.saturating_sub(self.bytes)) {
                buffer.reserve_exact(wanted.saturating_sub(buffer.len()));
                return true;
            }
        }
        false
    }

    /// An empty share of the same holder.
    pub fn sibling(&self) -> Self {
        self.budget.share(self.holder.clone())
    }

    /// How many bytes are charged.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests;
