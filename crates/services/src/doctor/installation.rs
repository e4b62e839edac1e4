//! The individual checks. Each function returns its finding and a suggested fix.

use super::Check;
use crate::Services;
use gatehouse_auth::STRANGER;
use gatehouse_config::{DisabledScope, Vault};
use gatehouse_domain::Timestamp;
use gatehouse_secrets::Status;
use gatehouse_store::StoreError;
use std::path::Path;

/// 2026-01-01. No version of Gatehouse existed before this date.
const NOT_BEFORE_MS: i64 = 1_767_225_600_000;
/// Maximum difference by which the newest audit row may be ahead of the clock, in milliseconds.
const CLOCK_SLACK_MS: i64 = 60_000;
/// Maximum difference between the clocks of this node and of the database server, in milliseconds. Two nodes then
/// differ by at most 40 seconds. Leases of deliveries and turns are measured without the time of day.
const NODE_SLACK_MS: u64 = 20_000;

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

pub(super) fn vault(status: Status) -> Check {
    match status {
        Status::Unsealed => Check::fine("vault", "The vault is unlocked."),
        Status::Uninitialized => Check {
            hint: Some("It is created when the first password is set.".to_owned()),
            ..Check::fine(
                "vault",
                "There is no vault yet; stored secrets are plaintext.",
            )
        },
        Status::Sealed => Check::bad(
            "vault",
            "The vault is sealed; stored secrets cannot be read.",
            "Log in with the password, run `gatehouse vault unlock`, or configure auto-unseal.",
        ),
        Status::Disabled => Check::bad(
            "vault",
            "The vault is disabled; stored secrets are plaintext.",
            "Open the Vault page and turn it on.",
        ),
    }
}

/// The vault of a restored copy, which nothing unlocks.
pub(super) fn vault_of_copy(status: Status) -> Check {
    if status == Status::Sealed {
        let message = "The vault is sealed and was not unlocked. It opens with the password or the recovery key of the \
                       time of the backup.";
        return Check::fine("vault", message);
    }
    vault(status)
}

/// Reports whether other nodes on the same database would be unlocked with this one; `None` without a vault, and on
/// SQLite, which has one node.
pub(super) fn shared_unseal(is_shared: bool, status: Status, settings: &Vault) -> Option<Check> {
    let id = "shared_unseal";
    if !is_shared || matches!(status, Status::Uninitialized | Status::Disabled) {
        return None;
    }
    if settings.cluster_secret.is_some() && settings.share_unseal {
        let message = "Nodes with the same vault.cluster_secret share the vault's key.";
        return Some(Check::fine(id, message));
    }
    let hint = "If several nodes use this database, give all of them the same vault.cluster_secret. Otherwise each one \
                must be unlocked separately, and a rotation seals the others.";
    Some(Check {
        hint: Some(hint.to_owned()),
        ..Check::fine(
            id,
            "This node does not share the vault's key with other nodes.",
        )
    })
}

pub(super) async fn plaintext(services: &Services, status: Status) -> Check {
    let id = "plaintext_secrets";
    let counted = services.store.read(|conn| {
        Box::pin(async move {
            let variables = conn.list_env_variables().await?;
            let keys = conn.list_ssh_keys().await?;
            let plain = variables.iter().filter(|row| !row.encrypted).count()
                + keys.iter().filter(|row| !row.encrypted).count();
            Ok::<_, StoreError>(plain)
        })
    });
    match (counted.await, status) {
        (Err(_), _) => Check::bad(
            id,
            "Stored secrets could not be counted.",
            "See the `database` check.",
        ),
        (Ok(0), _) => Check::fine(id, "No variable or SSH key is stored as plaintext."),
        (Ok(count), Status::Sealed) => Check::bad(
            id,
            format!("{count} secret(s) were stored as plaintext while the vault was sealed."),
            "Unlock the vault to encrypt them.",
        ),
        (Ok(count), Status::Unsealed) => Check::bad(
            id,
            format!("{count} secret(s) are plaintext although the vault is unlocked."),
            "Unlock the vault again. If they remain, the log has the reason.",
        ),
        (Ok(count), Status::Uninitialized | Status::Disabled) => Check::fine(
            id,
            format!("{count} secret(s) are plaintext because there is no vault."),
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

pub(super) async fn clock(services: &Services) -> Check {
    let now = services.clock.now();
    let head = services
        .store
        .read(|conn| Box::pin(async move { conn.find_audit_head().await }))
        .await;
    let newest = head.ok().flatten().map(|row| row.at);
    let ahead_ms = services.measure_database_clock().await;
    ahead_ms
        .and_then(clock_of_node)
        .unwrap_or_else(|| clock_finding(now, newest))
}

/// Reports a clock that differs from that of the database server.
fn clock_of_node(ahead_ms: i64) -> Option<Check> {
    let off_ms = ahead_ms.unsigned_abs();
    if off_ms <= NODE_SLACK_MS {
        return None;
    }
    let seconds = off_ms.div_ceil(1_000);
    let message = if ahead_ms > 0 {
        format!("This node's clock is {seconds} seconds ahead of the database server's.")
    } else {
        format!("This node's clock is {seconds} seconds behind the database server's.")
    };
    Some(Check::bad(
        "clock",
        message,
        "Set the clocks of all nodes and of the database server with NTP. Logins, signatures and the times of \
         deliveries depend on them.",
    ))
}

fn clock_finding(now: Timestamp, newest: Option<Timestamp>) -> Check {
    let wrong = |message: &str| {
        Check::bad(
            "clock",
            message,
            "Set the clock with NTP. Logins and signatures depend on it.",
        )
    };
    if now.as_millis() < NOT_BEFORE_MS {
        return wrong("The clock shows a time in the past.");
    }
    match newest {
        Some(newest) if newest.as_millis() > now.as_millis().saturating_add(CLOCK_SLACK_MS) => {
            wrong("The clock was set back: the audit log has an event in the future.")
        }
        _ => Check::fine("clock", format!("The clock shows {now}.")),
    }
}

#[cfg(test)]
mod tests;
