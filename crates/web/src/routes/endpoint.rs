//! The handlers in the route table. The router gets a handler only together with the access check of its row.

use super::Authorise;
use crate::app::App;
use axum::handler::Handler;
use axum::routing::{self, MethodRouter};

/// A handler and its method.
pub(crate) struct Endpoint(Box<dyn FnOnce(Authorise) -> MethodRouter<App>>);

impl Endpoint {
    /// Runs the check before the handler. The check is a layer of the handler: a layer of the `MethodRouter` boxes and
    /// clones each handler twice per request.
    pub(super) fn guarded(self, check: Authorise) -> MethodRouter<App> {
        (self.0)(check)
    }
}

pub(super) fn get<H: Handler<T, App>, T: 'static>(handler: H) -> Endpoint {
    Endpoint(Box::new(|check| routing::get(handler.layer(check))))
}

pub(super) fn post<H: Handler<T, App>, T: 'static>(handler: H) -> Endpoint {
    Endpoint(Box::new(|check| routing::post(handler.layer(check))))
}

pub(super) fn patch<H: Handler<T, App>, T: 'static>(handler: H) -> Endpoint {
    Endpoint(Box::new(|check| routing::patch(handler.layer(check))))
}

pub(super) fn delete<H: Handler<T, App>, T: 'static>(handler: H) -> Endpoint {
    Endpoint(Box::new(|check| routing::delete(handler.layer(check))))
}
