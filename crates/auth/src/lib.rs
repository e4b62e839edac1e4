//! Credentials and `check_auth()`, the only authentication decision. Also contains locality, client address,
//! throttling and audit.
//!
//! [`Auth`] is the handle for all operations. [`Auth::recognise`] authenticates a request once. The resulting
//! [`RequestContext`] is passed on, and operations receive it as a [`Caller`]. Credentials are checked in memory.
//! Every change is committed to the database first and then applied to memory in commit order (`state.rs`).
//!
//! This crate must not depend on routes, JSON-RPC or SQL.

pub mod api;
mod api_keys;
pub mod audit;
mod background;
pub mod bearer;
mod change_feed;
mod check_auth;
mod check_session;
pub mod client_address;
mod confirm;
pub mod cookie;
pub mod cross_site;
mod devices;
mod error;
pub mod host;
mod identity;
mod lineage;
mod live_credential;
mod live_map;
mod liveness;
pub mod locality;
mod login;
mod metrics_token;
mod offline;
mod only;
mod open;
pub mod passkeys;
mod password;
mod password_check;
mod password_hash;
mod recognise;
mod recorded;
mod request_context;
mod reset;
mod sessions;
mod settings;
mod setup;
mod setup_code;
mod shared_read;
mod socket_login;
mod state;
mod status;
mod step_up;
pub mod throttle;
mod unauthenticated_changes;
mod vault_access;
mod vault_plan;
pub mod wrong_passwords;

pub use check_auth::CheckInput;
pub use devices::{DevicePresence, LiveDevice};
pub use error::{AuthError, CONFIRMATION_SECONDS};
pub use gatehouse_secrets::kdf_queue;
pub use identity::{AuthIdentity, AuthMethod, Decision, STRANGER, Subject};
pub use live_credential::{LiveKey, LiveSession, LoginMethod};
pub use liveness::BeforeSetup;
pub use metrics_token::MetricsToken;
pub use only::{Only, Targets};
pub use request_context::{Caller, Outcome, RecogniseError, RequestContext, RequestFacts};
pub use settings::AuthSettings;
pub use state::{Auth, AuthFacts, is_setup_complete};
