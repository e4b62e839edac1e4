//! The state that every handler can access.

use crate::observe::Meters;
use crate::routes;
use crate::scrape::Scrape;
use axum::Router;
use gatehouse_auth::{Auth, RequestContext};
use gatehouse_domain::{Random, RequestId, SeededRandom};
use gatehouse_rpc::Rpc;
use gatehouse_rpc::memory_budget::{Holder, Share};
use gatehouse_secrets::Secrets;
use gatehouse_services::Services;
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The application state. Cheap to clone.
#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
}

struct Inner {
    rpc: Rpc,
    router: OnceLock<Router>,
    metrics: Option<Scrape>,
    meters: Meters,
    request_ids: SeededRandom,
    sockets: TaskTracker,
    shutdown: CancellationToken,
    #[cfg(feature = "voice")]
    talks: crate::socket::talk::TalkPlaces,
}

impl App {
    /// Creates the application. `shutdown` ends sockets and long responses.
    pub fn new(rpc: Rpc, metrics: Option<Scrape>, shutdown: CancellationToken) -> Self {
        let random: &dyn Random = &*rpc.services().random;
        let request_ids = SeededRandom::new(u64::from_le_bytes(random.bytes()));
        let inner = Inner {
            rpc,
            router: OnceLock::new(),
            metrics,
            meters: Meters::default(),
            request_ids,
            sockets: TaskTracker::new(),
            shutdown,
            #[cfg(feature = "voice")]
            talks: crate::socket::talk::TalkPlaces::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    pub(crate) fn rpc(&self) -> &Rpc {
        &self.inner.rpc
    }

    /// Memory charged to this caller.
    pub(crate) fn share(&self, context: &RequestContext) -> Share {
        self.rpc().budget().share(Holder::of(context))
    }

    pub(crate) fn services(&self) -> &Services {
        self.inner.rpc.services()
    }

    pub(crate) fn auth(&self) -> &Auth {
        &self.services().auth
    }

    pub(crate) fn secrets(&self) -> &Secrets {
        &self.services().secrets
    }

    /// The routes. Created at the first request, because the handlers hold a clone of this handle.
    pub(crate) fn router(&self) -> &Router {
        self.inner.router.get_or_init(|| routes::router(self))
    }

    pub(crate) fn metrics(&self) -> Option<&Scrape> {
        self.inner.metrics.as_ref()
    }

    pub(crate) fn meters(&self) -> &Meters {
        &self.inner.meters
    }

    /// Generates a request ID. It must be unique but not secret, so a seeded generator avoids a system call
    /// per request.
    pub(crate) fn new_request_id(&self) -> RequestId {
        RequestId::generate(&*self.services().clock, &self.inner.request_ids)
    }

    pub(crate) fn sockets(&self) -> &TaskTracker {
        &self.inner.sockets
    }

    pub(crate) fn shutdown(&self) -> &CancellationToken {
        &self.inner.shutdown
    }

    /// The spoken conversations that are open.
    #[cfg(feature = "voice")]
    pub(crate) fn talks(&self) -> &crate::socket::talk::TalkPlaces {
        &self.inner.talks
    }

    /// The maximum message size of `/api/rpc` and of authenticated sockets, in bytes.
    pub(crate) fn max_message_bytes(&self) -> usize {
        self.services().config.max_message_bytes()
    }
}
