//! The HTTP and WebSocket server, built on axum. Every request passes one gate, and the routes are a table. Each
//! handler reads its request, calls one function of the crate that owns the subject, and converts the result to a
//! response. This crate makes no decisions about credentials.

mod alive;
mod app;
mod arrival;
mod assemble;
mod body;
mod body_time;
mod charged;
mod connection_slots;
mod early;
mod etag;
pub mod gate;
mod in_work;
mod manual;
mod markdown;
mod meters;
mod observe;
mod openapi;
mod pages;
mod respond;
mod route;
mod routes;
mod scrape;
mod serve;
mod socket;
mod standalone;
mod targets;
mod tls;
mod while_live;

pub use app::App;
pub use arrival::Peer;
pub use connection_slots::ConnectionLimits;
pub use early::{EarlyOptions, answer_early};
pub use observe::install_metrics;
pub use openapi::openapi;
pub use route::{Access, Route, StepUp, Verb};
pub use routes::ROUTES;
pub use scrape::Scrape;
pub use serve::{Listening, ServeOptions, SharedPeers, serve};
pub use targets::targets;
pub use tls::{ServerTls, TlsError};
