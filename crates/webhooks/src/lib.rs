//! Inbound webhooks: records, ingest and the worker.
//!
//! The `ingest` module stores a request on disk before it responds to the sender. The worker then passes the delivery
//! to an agent or a channel. Everything vendor-specific is in `gatehouse-sources`. This crate must not depend on HTTP
//! servers, RPC or authorization.

mod batch_size;
mod changes;
mod channel_use;
mod control;
mod delivery;
mod delivery_ids;
mod edited_replay;
mod error;
mod filter_preview;
mod forward;
mod handle;
mod health;
mod ingest;
mod input;
mod limits;
mod listing;
mod live;
pub mod message;
pub mod metrics;
mod open_counts;
mod receiver_answer;
mod records;
mod reload;
mod removal;
mod replay;
pub mod retention;
mod rotate;
mod rules;
mod run;
mod schedule;
mod secret;
mod sending;
mod shared_limits;
mod snapshots;
mod stats;
mod template_preview;
mod tool;
mod trace;
mod webhook;
mod worker;

pub use changes::Failures;
pub use delivery::{Delivery, DeliveryChange, EditedPart, FailedAttempt, ResponseAction};
pub use edited_replay::Edit;
pub use error::WebhooksError;
pub use filter_preview::{PayloadFilterInput, PayloadFilterPreview};
pub use forward::{DeliveryRequest, Forwarding, KEPT_SECONDS, RequestHeader, RequestOrigin};
pub use gatehouse_sources::event::{HandshakeReply, HubRequest};
pub use handle::{Webhooks, WebhooksParts, WebhooksSettings};
pub use health::StoppedSender;
pub use ingest::{IngestError, Ingested, Intake, TestResult};
pub use input::{AuthInput, MAX_BODY_BYTES, Patch, WebhookInput};
pub use listing::{DeliveryPage, DeliveryQuery, StoredPayload};
pub use records::{OpenWebhooks, ShownSecret, WebhookChanged, WebhookPage};
pub use replay::{MAX_REPLAYED, ReplayQuery, Replayed};
pub use rotate::{DEFAULT_OVERLAP_SECONDS, MAX_OVERLAP_SECONDS, RotatedSecret};
pub use rules::OnLimit;
pub use run::ReadFile;
pub use schedule::{SHOWN_RUNS, Schedule, ScheduleInput, SchedulePreview};
pub use stats::{Bucket, BucketSize, DeliveryStats, Latency, MAX_DAYS, MAX_HOURS, StatsQuery};
pub use template_preview::{TemplateInput, TemplatePreview};
pub use webhook::{SessionMode, Snapshot, TemplateFormat, Webhook, WebhookAuth, WebhookConfig};
