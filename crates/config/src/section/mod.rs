//! The sections of the settings. Each has one file with its keys and its typed struct.

pub(crate) mod agents;
pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod auth;
pub(crate) mod backup;
pub(crate) mod database;
mod declare;
pub(crate) mod log;
pub(crate) mod mcp;
pub(crate) mod metrics;
pub(crate) mod model_table;
pub(crate) mod models;
pub(crate) mod network;
pub(crate) mod notify;
pub(crate) mod proxy;
pub(crate) mod server;
pub(crate) mod telemetry;
pub(crate) mod tls;
pub(crate) mod tools;
pub(crate) mod vault;
pub(crate) mod voice;
pub(crate) mod webhooks;

use crate::key::KeySpec;
use crate::merge::{InvalidSetting, Reader};

/// The keys of every section, in the order of the sample.
pub(crate) const KEYS: &[&[KeySpec]] = &[
    server::KEYS,
    tls::KEYS,
    proxy::KEYS,
    auth::KEYS,
    audit::KEYS,
    vault::KEYS,
    database::KEYS,
    backup::KEYS,
    network::KEYS,
    models::KEYS,
    agents::KEYS,
    tools::KEYS,
    approvals::KEYS,
    notify::KEYS,
    mcp::KEYS,
    webhooks::KEYS,
    voice::keys::KEYS,
    voice::tts::KEYS,
    voice::stt::KEYS,
    voice::wyoming::KEYS,
    log::KEYS,
    metrics::KEYS,
    telemetry::KEYS,
];

/// Every setting, validated.
pub struct Settings {
    pub server: server::Server,
    pub proxy: proxy::Proxy,
    pub auth: auth::Auth,
    pub audit: audit::Audit,
    pub vault: vault::Vault,
    pub database: database::Database,
    pub backup: backup::Backup,
    pub network: network::Network,
    pub models: models::Models,
    pub agents: agents::Agents,
    pub tools: tools::Tools,
    pub approvals: approvals::Approvals,
    pub notify: notify::Notify,
    pub mcp: mcp::Mcp,
    pub webhooks: webhooks::Webhooks,
    pub voice: voice::Voice,
    pub log: log::Log,
    pub metrics: metrics::Metrics,
    pub telemetry: telemetry::Telemetry,
}

impl Settings {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, InvalidSetting> {
        Ok(Self {
            server: server::Server::read(reader)?,
            proxy: proxy::Proxy::read(reader)?,
            auth: auth::Auth::read(reader)?,
            audit: audit::Audit::read(reader)?,
            vault: vault::Vault::read(reader)?,
            database: database::Database::read(reader)?,
            backup: backup::Backup::read(reader)?,
            network: network::Network::read(reader)?,
            models: models::Models::read(reader)?,
            agents: agents::Agents::read(reader)?,
            tools: tools::Tools::read(reader)?,
            approvals: approvals::Approvals::read(reader)?,
            notify: notify::Notify::read(reader)?,
            mcp: mcp::Mcp::read(reader)?,
            webhooks: webhooks::Webhooks::read(reader)?,
            voice: voice::Voice::read(reader)?,
            log: log::Log::read(reader)?,
            metrics: metrics::Metrics::read(reader)?,
            telemetry: telemetry::Telemetry::read(reader)?,
        })
    }
}
