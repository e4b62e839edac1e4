//! Creates the application with its routes.

use crate::app::{App, Inner};
use crate::meters::Meters;
use crate::routes;
use crate::scrape::Scrape;
#[cfg(feature = "voice")]
use crate::socket::talk::places::TalkPlaces;
use axum::Router;
use gatehouse_domain::{Random, SeededRandom};
use gatehouse_rpc::Rpc;
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

impl App {
    /// Creates the application. `shutdown` ends sockets and long responses.
    pub fn new(rpc: Rpc, metrics: Option<Scrape>, shutdown: CancellationToken) -> Self {
        let random: &dyn Random = &*rpc.services().random;
        let request_ids = SeededRandom::new(u64::from_le_bytes(random.bytes()));
        let inner = Inner {
            rpc,
            router: OnceLock::new(),
            metrics,
            meters: Meters::new(routes::ROUTES.len()),
            request_ids,
            sockets: TaskTracker::new(),
            shutdown,
            #[cfg(feature = "voice")]
            talks: TalkPlaces::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Returns the routes. They are created at the first request, because the handlers have a clone
    /// of this handle.
    pub(crate) fn router(&self) -> &Router {
        self.inner.router.get_or_init(|| routes::router(self))
    }
}
