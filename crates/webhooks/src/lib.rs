//! Inbound webhooks: profiles, verification, filters, templates, ingest and the worker.

pub mod auth_mode;
pub mod filter;
pub mod message;
pub mod payload;
pub mod template;
pub mod verify;

pub use auth_mode::AuthMode;
pub use payload::{BodyKind, Payload, PayloadError};
