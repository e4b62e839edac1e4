//! The door: HTTP and WebSocket by axum. One gate stands before every route; the routes are a table;
//! each handler reads its request, calls the one function of the room that owns the subject, and
//! turns the answer into a response. No decision about credentials is made here.

mod alive;
mod app;
mod arrival;
mod body;
mod etag;
pub mod gate;
mod in_work;
mod observe;
mod openapi;
mod pages;
mod places;
mod respond;
mod routes;
mod serve;
mod socket;
mod targets;
mod tls;

pub use app::App;
pub use gate::{Peer, enter};
pub use observe::install_metrics;
pub use openapi::openapi;
pub use places::ConnectionLimits;
pub use routes::{Access, ROUTES, Route, StepUp, Verb};
pub use serve::{ServeOptions, serve};
pub use targets::targets;
pub use tls::{TlsError, TlsSource, server_config};
