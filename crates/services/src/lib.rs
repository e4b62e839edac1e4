//! Opens the services of the other crates, translates the settings for them, and reports on them. `rpc` and
//! `web` serve them.

mod approval_messages;
mod approvals;
mod audit_export;
pub mod backup;
mod binary_size;
pub mod bootstrap;
pub mod certificates;
mod chat_approvals;
mod database_file;
mod database_probe;
pub mod doctor;
mod inbound;
pub mod live_config;
mod notices;
mod own_messages;
pub mod preferences;
mod problem;
pub mod profile_files;
pub mod push;
mod reach;
mod retry_after;
mod sent_links;
mod services;
pub mod session_access;
mod shared_clock;
mod telemetry;
mod vault_status;

pub use approvals::{APPROVAL_PRESS_REFUSED, APPROVAL_RESOLVED, ApprovalAnswer};
pub use live_config::LiveConfig;
pub use problem::to_problem;
pub use reach::{Reach, ReachProblem, Reached};
pub use sent_links::{AnsweredThrough, Decision, LinkEnd};
pub use services::{Build, Services, ServicesError, ServicesParts, WRITER_LIMIT};
pub use telemetry::{RenderMetrics, Telemetry};
pub use vault_status::VaultStatus;
