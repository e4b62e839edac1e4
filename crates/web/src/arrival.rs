//! Passes the gate's results for a request to its handler, and the matched route back to the gate.

use crate::connection_slots::ConnectionSlot;
use crate::route::Route;
use gatehouse_auth::RequestContext;
use gatehouse_domain::RequestId;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

/// The remote end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    pub address: SocketAddr,
    /// Whether this server terminates TLS for the connection.
    pub over_tls: bool,
}

/// A request that passed the gate.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub id: RequestId,
    pub context: RequestContext,
    pub route: Arc<MatchedRoute>,
    /// The slot of the connection.
    pub slot: ConnectionSlot,
}

/// The row of the route table that matched the request, if any.
#[derive(Debug, Default)]
pub(crate) struct MatchedRoute(OnceLock<(usize, &'static Route)>);

impl MatchedRoute {
    pub(crate) fn set(&self, place: usize, row: &'static Route) {
        // A request matches only one row, so the value is set once.
        let _ = self.0.set((place, row));
    }

    /// Returns the index in the table.
    pub(crate) fn place(&self) -> Option<usize> {
        self.0.get().map(|(place, _)| *place)
    }

    pub(crate) fn row(&self) -> Option<&'static Route> {
        self.0.get().map(|(_, row)| *row)
    }
}
