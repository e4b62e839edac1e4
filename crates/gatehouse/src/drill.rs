//! Verifies a backup in a process of its own, so that a damaged backup can neither crash the server nor use its memory.

use gatehouse_domain::{Clock, SystemClock, Timestamp};
use gatehouse_services::Services;
use gatehouse_services::backup::VerifyBackup;
use serde::Deserialize;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The prefix of the temporary directories of `gatehouse backup verify`.
pub const TEMPORARY: &str = "verify-";
/// A directory that is older was left by a process that was killed.
const LEFT_AFTER: Duration = Duration::from_hours(24);
/// How long verifying may take.
const LONGEST: Duration = Duration::from_hours(5);

#[derive(Deserialize)]
struct Report {
    ok: bool,
    checks: Vec<Finding>,
}

#[derive(Deserialize)]
struct Finding {
    ok: bool,
    message: String,
}

/// Makes the weekly drill until `shutdown`.
pub(crate) fn start(services: &Arc<Services>, shutdown: &CancellationToken, tasks: &TaskTracker) {
    let verify = verifier(services.config.layers().data_dir());
    services.drill_backups(verify, shutdown.clone(), tasks);
}

/// Verifies backups with `gatehouse backup verify` of this program.
fn verifier(data_dir: &Path) -> VerifyBackup {
    let data_dir = data_dir.to_path_buf();
    Arc::new(move |backup| {
        let data_dir = data_dir.clone();
        Box::pin(async move {
            let program = std::env::current_exe()
                .map_err(|error| format!("this program cannot be found: {error}"))?;
            verify(&program, &data_dir, &backup).await
        })
    })
}

/// Verifies a backup with `program`, which is a Gatehouse. The error says what is wrong.
pub async fn verify(program: &Path, data_dir: &Path, backup: &Path) -> Result<(), String> {
    let place = data_dir.to_path_buf();
    let removed = tokio::task::spawn_blocking(move || remove_left(&place)).await;
    if let Ok(Err(error)) = removed {
        tracing::warn!(%error, "directories that earlier drills left could not be deleted");
    }
    let mut command = Command::new(program);
    command
        .arg("--data-dir")
        .arg(data_dir)
        .args(["--json", "backup", "verify"])
        .arg(backup)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = match tokio::time::timeout(LONGEST, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(format!("the check could not be started: {error}")),
        Err(_) => return Err("the check took longer than five hours".to_owned()),
    };
    match serde_json::from_slice::<Report>(&output.stdout) {
        Ok(report) if report.ok && output.status.success() => Ok(()),
        Ok(report) => {
            let failed = report.checks.into_iter().filter(|check| !check.ok);
            Err(failed
                .map(|check| check.message)
                .collect::<Vec<_>>()
                .join("; "))
        }
        Err(_) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            let last = errors.lines().rev().find(|line| !line.trim().is_empty());
            let reason = last.unwrap_or("the check ended without a result").trim();
            Err(reason.trim_end_matches('.').to_owned())
        }
    }
}

/// Deletes directories of checks whose processes were killed.
fn remove_left(data_dir: &Path) -> io::Result<()> {
    let now = SystemClock::new().now();
    let left = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let modified = path.symlink_metadata().and_then(|it| it.modified()).ok();
        let since_epoch = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let ms = since_epoch.and_then(|at| i64::try_from(at.as_millis()).ok());
        let is_old = |ms| Timestamp::from_millis(ms).until(now) > LEFT_AFTER;
        name.starts_with(TEMPORARY) && ms.is_some_and(is_old)
    };
    for entry in data_dir.read_dir()? {
        let path = entry?.path();
        if left(&path) {
            std::fs::remove_dir_all(&path)?;
        }
    }
    Ok(())
}
