//! The state that every handler can access.

use crate::meters::Meters;
use crate::scrape::Scrape;
#[cfg(feature = "voice")]
use crate::socket::talk::places::TalkPlaces;
use axum::Router;
use gatehouse_auth::{Auth, RequestContext};
use gatehouse_domain::{RequestId, SeededRandom};
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
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) rpc: Rpc,
    pub(crate) router: OnceLock<Router>,
    pub(crate) metrics: Option<Scrape>,
    pub(crate) meters: Meters,
    pub(crate) request_ids: SeededRandom,
    pub(crate) sockets: TaskTracker,
    pub(crate) shutdown: CancellationToken,
    #[cfg(feature = "voice")]
    pub(crate) talks: TalkPlaces,
}

impl App {
    pub(crate) fn rpc(&self) -> &Rpc {
        &self.inner.rpc
    }

    /// Returns the memory share that is charged to this caller.
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

    pub(crate) fn metrics(&self) -> Option<&Scrape> {
        self.inner.metrics.as_ref()
    }

    pub(crate) fn meters(&self) -> &Meters {
        &self.inner.meters
    }

    /// Generates a request ID. The ID must be unique but not secret. A seeded generator avoids a system call per
    /// request.
    pub(crate) fn new_request_id(&self) -> RequestId {
        RequestId::generate(&*self.services().clock, &self.inner.request_ids)
    }

    pub(crate) fn sockets(&self) -> &TaskTracker {
        &self.inner.sockets
    }

    pub(crate) fn shutdown(&self) -> &CancellationToken {
        &self.inner.shutdown
    }

    /// Returns the spoken conversations that are open.
    #[cfg(feature = "voice")]
    pub(crate) fn talks(&self) -> &TalkPlaces {
        &self.inner.talks
    }

    /// Returns the maximum message size of `/api/rpc` and of authenticated sockets, in bytes.
    pub(crate) fn max_message_bytes(&self) -> usize {
        self.services().config.max_message_bytes()
    }
}
