//! The individual checks. Each function returns its finding and a suggested fix.

mod clock;
mod vault;

use super::Check;
use crate::Services;
pub(super) use clock::clock;
use gatehouse_auth::STRANGER;
use gatehouse_config::DisabledScope;
use std::path::Path;
pub(super) use vault::{plaintext, shared_unseal, vault, vault_of_copy};

/// 2026-01-01. No version of Gatehouse existed before this date.
const NOT_BEFORE_MS: i64 = 1_767_225_600_000;
/// Maximum difference by which the newest audit row may be ahead of the clock, in milliseconds.
const CLOCK_SLACK_MS: i64 = 60_000;

pub(super) async fn database(services: &Services) -> Check {
    let engine = services.store.engine().product();
    if services.store.file_is_replaced().await {
        return Check::bad(
            "database",
            "The file of the database or its -wal file was deleted, moved or replaced while the server uses it.",
            "If this was intended, restart the server. Otherwise, do not stop the server: the records exist only in \
             its open files. Move the file back, or copy it and its -wal file as root from /proc/PID/fd. Until then, \
             writes are refused and no backups are made.",
        );
    }
    match services.store.ping().await {
        Ok(()) if !services.database_takes_writes().await => Check::bad(
            "database",
            format!("The database ({engine}) responds, but it does not accept writes."),
            "Check the free disk space, and whether the database is read-only. The log has the details.",
        ),
        Ok(()) => Check::fine("database", format!("The database ({engine}) responds.")),
        Err(error) => Check::bad(
            "database",
            format!("The database ({engine}) does not respond: {error}."),
            "Check the free disk space, the file permissions or the PostgreSQL server. The log \
             has the details.",
        ),
    }
}

pub(super) async fn data_directory(path: &Path) -> Check {
    use std::os::unix::fs::PermissionsExt;
    let id = "data_directory";
    match tokio::fs::metadata(path).await {
        Err(_) => Check::bad(
            id,
            "The data directory cannot be read.",
            "Check --data-dir.",
        ),
        Ok(found) if !found.is_dir() => Check::bad(
            id,
            "The data directory is not a directory.",
            "Check --data-dir.",
        ),
        Ok(found) => match found.permissions().mode() & 0o077 {
            0 => Check::fine(id, "Only the owner can access the data directory."),
            mode => Check::bad(
                id,
                format!("Other users can access the data directory (their mode bits: {mode:03o})."),
                "Run chmod 700 on it.",
            ),
        },
    }
}

pub(super) fn config(warnings: &[String], shadowed: &[String]) -> Check {
    match warnings.first() {
        Some(warning) => Check::bad(
            "config",
            format!(
                "{} stored setting(s) are ignored; first: {warning}.",
                warnings.len()
            ),
            "Correct these settings, or reset them in the web UI.",
        ),
        None if shadowed.is_empty() => Check::fine("config", "All settings are valid."),
        None => Check::fine(
            "config",
            format!(
                "All settings are valid. Overridden outside the file: {}.",
                shadowed.join(", ")
            ),
        ),
    }
}

pub(super) fn setup(complete: bool) -> Check {
    if complete {
        return Check::fine("setup", "Setup is complete.");
    }
    Check::bad(
        "setup",
        "No password or passkey is set.",
        "Open Gatehouse in a browser. From another machine you need the setup code from the gateway's output.",
    )
}

pub(super) fn auth_disabled(disabled: bool, scope: DisabledScope) -> Check {
    let id = "auth";
    match (disabled, scope) {
        (false, _) => Check::fine(id, "Callers must authenticate."),
        (true, DisabledScope::Local) => Check::bad(
            id,
            "Authentication is disabled for local connections.",
            "Complete setup again to enable it.",
        ),
        (true, DisabledScope::All) => Check::bad(
            id,
            "Authentication is disabled: everyone who can reach this server has access.",
            "Complete setup again, or set auth.disabled_scope to \"local\".",
        ),
    }
}

pub(super) async fn before_setup(services: &Services) -> Check {
    let id = "before_setup";
    let changes = match services.auth.unauthenticated_changes().await {
        Ok(changes) => changes,
        Err(error) => {
            return Check::bad(
                id,
                format!("The audit log cannot be read: {error}."),
                "Check the database.",
            );
        }
    };
    if changes.is_empty() {
        return Check::fine(
            id,
            "No remote changes were made while authentication was disabled.",
        );
    }
    let kinds: Vec<String> = changes
        .into_iter()
        .map(|(kind, count)| format!("{kind} ({count})"))
        .collect();
    Check::bad(
        id,
        format!(
            "Remote changes in the last 30 days while authentication was disabled: {}.",
            kinds.join(", ")
        ),
        format!(
            "Settings, API keys and devices created this way ended with setup. Review the rest \
             in the audit log, actor `{STRANGER}`, and delete what is not yours."
        ),
    )
}

#[cfg(test)]
mod tests;
