//! What the gate found out about a request, in one piece beside it on the way to its handler; and what
//! the route table tells the gate on the way back. Decides nothing.

use crate::routes::{ROUTES, Route};
use gatehouse_auth::Visit;
use gatehouse_domain::RequestId;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A request that was let in.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub id: RequestId,
    pub visit: Visit,
    pub route: Arc<RouteSeen>,
}

/// The row of the route table that took the request, once one did.
#[derive(Debug)]
pub(crate) struct RouteSeen(AtomicUsize);

impl Default for RouteSeen {
    fn default() -> Self {
        Self(AtomicUsize::new(usize::MAX))
    }
}

impl RouteSeen {
    pub(crate) fn set(&self, place: usize) {
        self.0.store(place, Ordering::Relaxed);
    }

    /// Its place in the table.
    pub(crate) fn place(&self) -> Option<usize> {
        Some(self.0.load(Ordering::Relaxed)).filter(|place| *place < ROUTES.len())
    }

    pub(crate) fn row(&self) -> Option<&'static Route> {
        ROUTES.get(self.place()?)
    }
}
