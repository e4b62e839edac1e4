//! All settings: files, environment, precedence and schema. No other crate reads the environment.
//!
//! One table, [`describe`], contains the type, the default and a one-line description of each key. The sample file,
//! the JSON schema, the permissions for changes and the parser are derived from the table. Each section has one
//! file below `section` with its keys and its typed struct. This crate uses neither HTTP nor SQL: run-time changes
//! are passed to it as a map of dotted keys.

mod alias;
mod environment;
mod error;
mod file;
mod host_and_port;
mod invalid_value;
mod key;
mod key_table;
mod layers;
mod merge;
mod nearest;
mod process;
mod resolved;
mod sample;
mod schema;
mod section;
mod set;
mod suggest;
mod value;

#[cfg(test)]
mod tests;

pub use alias::canonical_key;
pub use environment::Environment;
pub use error::ConfigError;
pub use invalid_value::InvalidValue;
pub use key::{Change, Guard, Initial, KeySpec, Kind, MASK, Rule};
pub use key_table::{
    describe, env_name, find_key, key_is_secret, key_needs_admin, key_needs_step_up,
};
pub use layers::{Invocation, Layers};
pub use merge::Origin;
pub use process::Process;
pub use resolved::{Resolved, SettingValue, StartValues};
pub use sample::sample;
pub use schema::json_schema;
pub use section::Settings;
pub use section::agents::Agents;
pub use section::approvals::{ApprovalLinks, Approvals};
pub use section::audit::{Audit, RemoteSyslog, Syslog, SyslogTransport};
pub use section::auth::{Auth, DisabledScope};
pub use section::backup::Backup as BackupSettings;
pub use section::database::{Database, DatabaseUrl};
pub use section::log::{Log, LogFormat};
pub use section::mcp::{Mcp, McpServer, McpVariable};
pub use section::metrics::Metrics;
pub use section::models::{Models, Provider, ProviderKind};
pub use section::network::Network;
pub use section::notify::Notify;
pub use section::proxy::Proxy;
pub use section::server::{AllowedOrigin, Server};
pub use section::telemetry::Telemetry;
pub use section::tls::{Acme, Tls};
pub use section::tools::{SearchProvider, ToolSecret, Tools, WebSearch};
pub use section::vault::Vault;
pub use section::voice::stt::PROVIDERS as STT_PROVIDERS;
pub use section::voice::tts::PROVIDERS as TTS_PROVIDERS;
pub use section::voice::{AutoSpeak, Voice, VoiceProvider, VoiceSection};
pub use section::webhooks::Webhooks;
pub use set::SetError;
pub use set::check_key;
