//! `system.*`: how the server is.

use crate::doctor::{self, Check};
use crate::method::{Call, Method, NoParams, method};
use crate::vault_status::VaultStatus;
use gatehouse_domain::{Problem, Scope};
use schemars::JsonSchema;
use serde::Serialize;

/// `system.status`.
pub const STATUS: Method = method!(
    "system.status",
    "How the server is, in short.",
    None,
    status(NoParams) -> SystemStatus
);

/// `system.doctor`.
pub const DOCTOR: Method = method!(
    "system.doctor",
    "Checks what commonly goes wrong, and says what to do about it.",
    Some(Scope::Read),
    run_checks(NoParams) -> DoctorReport
);

/// Result of `system.status`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SystemStatus {
    /// The version that runs.
    pub version: &'static str,
    /// For how long.
    pub uptime_seconds: u64,
    /// The database.
    pub database: DatabaseStatus,
    /// Whether stored secrets can be read.
    pub vault_status: VaultStatus,
    /// How many webhook deliveries wait.
    pub queue_depth: u64,
    /// How many chat sessions there are.
    pub sessions: u64,
}

/// How the database is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DatabaseStatus {
    /// `sqlite` or `postgres`.
    pub engine: &'static str,
    /// Whether it answers.
    pub ok: bool,
}

/// Result of `system.doctor`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorReport {
    /// One entry per check.
    pub checks: Vec<Check>,
}

async fn status(call: Call, _: NoParams) -> Result<SystemStatus, Problem> {
    let rooms = &call.rooms;
    let up = rooms
        .clock
        .monotonic_ms()
        .saturating_sub(rooms.started_at_ms);
    // A database that does not answer is told in `database`, not by failing here.
    let waiting = rooms.webhooks.queue_depth().await.unwrap_or(0);
    let sessions = rooms
        .store
        .read(|conn| Box::pin(async move { conn.count_chat_sessions().await }));
    let sessions = sessions.await.unwrap_or(0);
    Ok(SystemStatus {
        version: rooms.build.version,
        uptime_seconds: up / 1000,
        database: DatabaseStatus {
            engine: rooms.store.engine().name(),
            ok: rooms.store.ping().await.is_ok(),
        },
        vault_status: rooms.secrets.status().into(),
        queue_depth: u64::try_from(waiting).unwrap_or(0),
        sessions: u64::try_from(sessions).unwrap_or(0),
    })
}

async fn run_checks(call: Call, _: NoParams) -> Result<DoctorReport, Problem> {
    Ok(DoctorReport {
        checks: doctor::checks(&call.rooms, Some(&call.visit)).await,
    })
}
