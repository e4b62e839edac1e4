//! Inbound webhooks: profiles, verification, filters, templates, ingest and the worker.
//!
//! The `ingest` module stores a request on disk before it responds to the sender. The worker then passes
//! the delivery to an agent or a channel. Everything vendor-specific is data in [`profile`]. This crate
//! must not know about HTTP servers, RPC or authorization.

pub mod auth_mode;
mod channel_use;
mod clean;
mod control;
mod delivery;
mod delivery_ids;
mod entity;
mod error;
pub mod event;
pub mod filter;
mod handle;
mod ingest;
mod input;
mod limits;
mod listing;
mod live;
pub mod message;
pub mod metrics;
pub mod payload;
mod pieces;
mod ping;
pub mod profile;
mod record;
mod records;
mod removal;
mod replay;
pub mod retention;
mod rotate;
mod rules;
mod run;
pub mod sample;
mod secret;
mod snapshots;
pub mod summary;
pub mod template;
mod tool;
pub mod verify;
mod worker;

pub use auth_mode::AuthMode;
pub use delivery::{Delivery, DeliveryChange, ResponseAction};
pub use error::WebhooksError;
pub use handle::{Webhooks, WebhooksParts, WebhooksSettings};
pub use ingest::{IngestError, Ingested, Intake, TestResult};
pub use input::{AuthInput, MAX_BODY_BYTES, Patch, WebhookInput};
pub use listing::{
    Bucket, BucketSize, DeliveryPage, DeliveryQuery, DeliveryStats, MAX_DAYS, MAX_HOURS,
    StatsQuery, StoredPayload,
};
pub use payload::{BodyKind, Payload, PayloadError};
pub use record::{SessionMode, Snapshot, Webhook, WebhookAuth, WebhookConfig};
pub use records::{ShownSecret, WebhookChanged, WebhookPage};
pub use replay::{MAX_REPLAYED, ReplayQuery, Replayed};
pub use rotate::{DEFAULT_OVERLAP_SECONDS, MAX_OVERLAP_SECONDS, RotatedSecret};
pub use rules::{OnLimit, ReplayGuard};
