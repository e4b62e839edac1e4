//! The memory budget for everything callers send and receive: bodies, socket messages, the params of
//! running calls, and responses until they are written. The process has one budget. It is charged while
//! bytes arrive and while responses are built. Guards release the bytes on drop, so nothing stays charged
//! when a connection ends abnormally.

mod limits;

use gatehouse_auth::{Decision, RequestContext};
use gatehouse_domain::ClientKey;
pub use limits::Limits;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum size of small shares, in bytes. Small shares may use the last sixteenth of each limit, so small calls
/// still succeed when large ones use up the rest.
const SMALL_BYTES: usize = 64 * 1024;

/// The account that bytes are charged to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// The ID of a credential, or of a client that was allowed without a credential.
    Known(Arc<str>),
    /// An unauthenticated client.
    Stranger(ClientKey),
}

impl Holder {
    /// Returns the holder for this request.
    pub fn of(context: &RequestContext) -> Self {
        let Decision::Allowed(identity) = &context.decision else {
            return Self::Stranger(context.client.key);
        };
        let name = identity.actor_name();
        // Several clients have one of these two names, so the client key distinguishes them.
        Self::Known(match name.as_str() {
            "loopback" | "password" => format!("{name} {}", context.client.key).into(),
            _ => name.into(),
        })
    }
}

#[derive(Debug, Default)]
struct Held {
    total: usize,
    unauthenticated: usize,
    each: HashMap<Holder, usize>,
}

/// The memory budget. Cheap to clone.
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
    /// Creates an unused budget.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            held: Arc::default(),
        }
    }

    /// Creates an empty share for this holder.
    pub fn share(&self, holder: Holder) -> Share {
        Share {
            budget: self.clone(),
            holder,
            bytes: 0,
        }
    }

    /// Returns the number of bytes currently charged.
    pub fn held_bytes(&self) -> usize {
        self.lock().total
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes charged to a holder until the share is dropped.
#[must_use = "the bytes are released when this is dropped"]
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
    /// Charges `more` bytes. If they are not available, charges nothing and returns `false`.
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
                    fits(its, limits.unauthenticated_client)
                        && fits(held.unauthenticated, limits.unauthenticated)
                }
            };
        if has_room && more > 0 {
            held.total += more;
            if matches!(self.holder, Holder::Stranger(_)) {
                held.unauthenticated += more;
            }
            held.each.insert(self.holder.clone(), its + more);
            drop(held);
            self.bytes = bytes;
        }
        has_room
    }

    /// Releases all bytes above `bytes`.
    pub fn shrink_to(&mut self, bytes: usize) {
        let Some(less) = self.bytes.checked_sub(bytes).filter(|less| *less > 0) else {
            return;
        };
        self.bytes = bytes;
        let mut held = self.budget.lock();
        held.total = held.total.saturating_sub(less);
        if matches!(self.holder, Holder::Stranger(_)) {
            held.unauthenticated = held.unauthenticated.saturating_sub(less);
        }
        match held.each.get_mut(&self.holder) {
            Some(its) if *its > less => *its -= less,
            _ => drop(held.each.remove(&self.holder)),
        }
    }

    /// Grows the buffer by `more` bytes and charges the allocation. Doubles the capacity if the budget allows that, but
    /// not above `most` bytes unless the content needs more. If the budget does not allow the allocation, changes
    /// nothing and returns `false`. The share must be used only for this buffer.
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

    /// Creates an empty share that is charged to the same holder.
    pub fn sibling(&self) -> Self {
        self.budget.share(self.holder.clone())
    }

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
