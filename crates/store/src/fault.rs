//! Points at which a test can abort the process before the n-th write, as a power failure would. Without the
//! feature `testing` a point does nothing.

#[cfg(feature = "testing")]
mod armed {
    use std::sync::atomic::{AtomicI64, Ordering};

    static REMAINING: AtomicI64 = AtomicI64::new(-1);
    static SEEN: AtomicI64 = AtomicI64::new(0);

    /// Aborts the process at the n-th point from now (0 is the next one).
    pub fn abort_at(n: i64) {
        SEEN.store(0, Ordering::SeqCst);
        REMAINING.store(n, Ordering::SeqCst);
    }

    /// Returns the number of points passed since [`abort_at`].
    pub fn seen() -> i64 {
        SEEN.load(Ordering::SeqCst)
    }

    /// Marks a point at which the process may abort.
    pub fn point() {
        SEEN.fetch_add(1, Ordering::SeqCst);
        if REMAINING.load(Ordering::SeqCst) >= 0 && REMAINING.fetch_sub(1, Ordering::SeqCst) == 0 {
            std::process::abort();
        }
    }
}

#[cfg(feature = "testing")]
pub use armed::{abort_at, point, seen};

/// Marks a point at which the process may abort in builds with the feature `testing`.
#[cfg(not(feature = "testing"))]
pub const fn point() {}
