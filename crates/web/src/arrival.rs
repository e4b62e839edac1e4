//! Passes the gate's findings about a request to its handler, and the matched route back to the gate.

use crate::routes::{ROUTES, Route};
use gatehouse_auth::RequestContext;
use gatehouse_domain::RequestId;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A request that passed the gate.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub id: RequestId,
    pub context: RequestContext,
    pub route: Arc<MatchedRoute>,
}

/// The index of the route table row that matched the request, if any.
#[derive(Debug)]
pub(crate) struct MatchedRoute(AtomicUsize);

impl Default for MatchedRoute {
    fn default() -> Self {
        Self(AtomicUsize::new(usize::MAX))
    }
}

impl MatchedRoute {
    pub(crate) fn set(&self, place: usize) {
        self.0.store(place, Ordering::Relaxed);
    }

    /// The index in the table.
    pub(crate) fn place(&self) -> Option<usize> {
        Some(self.0.load(Ordering::Relaxed)).filter(|place| *place < ROUTES.len())
    }

    pub(crate) fn row(&self) -> Option<&'static Route> {
        ROUTES.get(self.place()?)
    }
}
