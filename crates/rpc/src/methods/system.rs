//! `system.*`: the state of the server.

use crate::method_entry::{Audit, Call, Method, NoParams, method};
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::doctor::{self, Check};
use gatehouse_services::{Reached, VaultStatus};
use schemars::JsonSchema;
use serde::Serialize;

pub const STATUS: Method = method!(
    "system.status",
    "Returns a summary of the server's state.",
    None,
    status(NoParams) -> SystemStatus
);

pub const DOCTOR: Method = method!(
    "system.doctor",
    "Checks for common problems and suggests a fix for each.",
    Some(Scope::Read),
    run_checks(NoParams) -> DoctorReport
);

pub const REACH: Method = method!(
    "system.reach",
    "Requests the server's public URL and checks that this server, or another node of its database, answers. Takes up to ten seconds.",
    Some(Scope::Admin),
    reach(NoParams) -> Reached,
    errors: [Conflict],
    audit: Audit::Unrecorded("asks its own public URL")
);

/// Result of `system.status`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SystemStatus {
    /// The running version.
    pub version: &'static str,
    /// The time since the start in seconds.
    pub uptime_seconds: u64,
    /// The state of the database.
    pub database: DatabaseStatus,
    /// The state of the vault.
    pub vault_status: VaultStatus,
    /// The number of waiting webhook deliveries.
    pub queue_depth: u64,
    /// The number of chat sessions.
    pub sessions: u64,
    /// Whether untrusted text can make agents act without approval, because `tools.taint` is off.
    pub taint_off: bool,
}

/// The state of the database.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DatabaseStatus {
    /// `sqlite` or `postgres`.
    pub engine: &'static str,
    /// Whether the database responds and accepts writes.
    pub ok: bool,
}

/// Result of `system.doctor`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorReport {
    /// One entry per check.
    pub checks: Vec<Check>,
}

async fn status(call: Call, _: NoParams) -> Result<SystemStatus, Problem> {
    let services = &call.services;
    let up = services
        .clock
        .monotonic_ms()
        .saturating_sub(services.started_at_ms);
    // If the database is unavailable, `database` reports it, so the call itself does not fail.
    let waiting = services.webhooks.queue_depth().await.unwrap_or(0);
    let sessions = services
        .store
        .read(|conn| Box::pin(async move { conn.count_chat_sessions().await }));
    let sessions = sessions.await.unwrap_or(0);
    Ok(SystemStatus {
        version: services.build.version,
        uptime_seconds: up / 1000,
        database: DatabaseStatus {
            engine: services.store.engine().name(),
            ok: services.store.ping().await.is_ok() && services.database_takes_writes().await,
        },
        vault_status: services.secrets.status().into(),
        queue_depth: u64::try_from(waiting).unwrap_or(0),
        sessions: u64::try_from(sessions).unwrap_or(0),
        taint_off: !services.config.resolved().settings.tools.taint,
    })
}

async fn run_checks(call: Call, _: NoParams) -> Result<DoctorReport, Problem> {
    Ok(DoctorReport {
        checks: doctor::checks(&call.services, Some(&call.context)).await,
    })
}

async fn reach(call: Call, _: NoParams) -> Result<Reached, Problem> {
    call.services.test_reach().await
}
