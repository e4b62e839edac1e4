//! Points at which a test can end the process before the n-th write, as a crash would. Without the feature
//! `testing`, a point does nothing.

#[cfg(feature = "testing")]
mod armed {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicI64, Ordering};

    static REMAINING: AtomicI64 = AtomicI64::new(-1);
    static SEEN: AtomicI64 = AtomicI64::new(0);
    static ACTION: OnceLock<fn()> = OnceLock::new();

    /// Aborts the process at the n-th point from now (0 is the next one).
    pub fn abort_at(n: i64) {
        SEEN.store(0, Ordering::SeqCst);
        REMAINING.store(n, Ordering::SeqCst);
    }

    /// Calls the function at the n-th point from now, instead of aborting there. Only the function of the first
    /// call in a process is used.
    pub fn call_at(n: i64, action: fn()) {
        ACTION.get_or_init(|| action);
        abort_at(n);
    }

    /// Returns the number of points passed since [`abort_at`].
    pub fn seen() -> i64 {
        SEEN.load(Ordering::SeqCst)
    }

    /// Marks a point at which the process may abort.
    pub fn point() {
        SEEN.fetch_add(1, Ordering::SeqCst);
        if REMAINING.load(Ordering::SeqCst) >= 0 && REMAINING.fetch_sub(1, Ordering::SeqCst) == 0 {
            match ACTION.get() {
                Some(action) => action(),
                None => std::process::abort(),
            }
        }
    }
}

#[cfg(feature = "testing")]
pub use armed::{abort_at, call_at, point, seen};

/// Marks a point at which the process may abort in builds with the feature `testing`.
#[cfg(not(feature = "testing"))]
pub const fn point() {}
