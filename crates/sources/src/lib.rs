//! The vendors that send webhooks: profiles, verification, summaries, samples and templates.
//!
//! The functions are pure: their inputs are headers, bodies and a time, and they do no I/O. Everything
//! vendor-specific is in that vendor's folder below `vendors`. This crate must not depend on webhook records,
//! storage, agents or channels.

pub mod auth_mode;
mod clean;
mod entity;
pub mod event;
mod event_family;
pub mod filter;
pub mod payload;
pub mod payload_filter;
pub mod profile;
pub mod profile_file;
pub mod sample;
pub mod summary;
pub mod template;
mod vendors;
pub mod verify;

pub use auth_mode::AuthMode;
pub use payload::{BodyKind, Payload, PayloadError};
pub use profile::ReplayGuard;
