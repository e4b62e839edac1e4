//! Verifies a backup in a separate process. A damaged backup can then neither crash the server nor use its memory.

use crate::own_environment::own_program;
use gatehouse_services::Services;
use gatehouse_services::backup::{DrillError, Trial, VerifyBackup};
use rustix::process::Signal;
use serde::Deserialize;
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The prefix of the temporary directories of `gatehouse backup verify`.
pub const TEMPORARY: &str = "verify-";
/// The directory of the drill. A server runs one drill at a time.
const PLACE: &str = "verify-drill";
/// The exit code of `gatehouse backup verify` if the temporary directory could not store the restored data. The backup
/// may be intact.
pub const NOT_CHECKED: u8 = 3;
/// The time limit for a verification.
const LONGEST: Duration = Duration::from_hours(5);
/// Signals that do not depend on the backup: the service stops, or there is too little memory.
const STOPS: [Signal; 4] = [Signal::TERM, Signal::INT, Signal::HUP, Signal::KILL];

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

/// Runs drills until `shutdown`. First deletes the files of a killed drill.
pub(crate) async fn start(
    services: &Arc<Services>,
    shutdown: &CancellationToken,
    tasks: &TaskTracker,
) {
    let layers = services.config.layers();
    clean(layers.data_dir()).await;
    let verify = verifier(layers.data_dir(), &layers.process().child_variables);
    services.drill_backups(verify, shutdown.clone(), tasks);
}

/// Returns a verifier that runs this program's `gatehouse backup verify`.
fn verifier(data_dir: &Path, variables: &[(String, OsString)]) -> VerifyBackup {
    let (data_dir, variables) = (data_dir.to_path_buf(), variables.to_vec());
    Arc::new(move |trial| {
        let (data_dir, variables) = (data_dir.clone(), variables.clone());
        Box::pin(async move {
            let program = own_program()
                .ok_or_else(|| DrillError::NotMade("this program cannot be found".to_owned()))?;
            verify(&program, &variables, &data_dir, trial).await
        })
    })
}

/// Verifies a backup with `program`, which must be a Gatehouse binary. The program gets only these environment
/// variables.
pub async fn verify(
    program: &Path,
    variables: &[(String, OsString)],
    data_dir: &Path,
    trial: Trial,
) -> Result<(), DrillError> {
    let place = data_dir.join(PLACE);
    let created = {
        let place = place.clone();
        tokio::task::spawn_blocking(move || create(&place)).await
    };
    if let Ok(Err(error)) = created {
        let why = format!("a temporary directory cannot be created: {error}");
        return Err(DrillError::NotMade(why));
    }
    let mut command = Command::new(program);
    command
        .env_clear()
        .envs(variables.iter().map(|(name, value)| (name, value)));
    let verified = verify_in(command, &place, trial).await;
    clean(data_dir).await;
    verified
}

/// Runs the command to its end. The key is passed neither in the arguments nor in the environment, because other
/// processes can read both.
async fn run(mut command: Command, trial: Trial) -> io::Result<Output> {
    let Trial {
        backup,
        key,
        reads_only,
    } = trial;
    command
        .args(["--json", "backup", "verify"])
        .arg(backup)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if reads_only {
        command.arg("--read-only");
    }
    if key.is_some() {
        command.arg("--key-from-stdin").stdin(Stdio::piped());
    }
    let mut child = command.spawn()?;
    if let (Some(key), Some(mut stdin)) = (key, child.stdin.take()) {
        // If the program ends without reading the key, its output contains the reason.
        drop(stdin.write_all(key.to_hex().as_bytes()).await);
    }
    child.wait_with_output().await
}

async fn verify_in(mut command: Command, place: &Path, trial: Trial) -> Result<(), DrillError> {
    command.arg("--data-dir").arg(place);
    let output = match tokio::time::timeout(LONGEST, run(command, trial)).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => {
            let why = format!("the check could not be started: {error}");
            return Err(DrillError::NotMade(why));
        }
        Err(_) => {
            let why = "the check took longer than five hours";
            return Err(DrillError::NotMade(why.to_owned()));
        }
    };
    match serde_json::from_slice::<Report>(&output.stdout) {
        Ok(report) if report.ok && output.status.success() => Ok(()),
        Ok(report) => {
            let failed = report.checks.into_iter().filter(|check| !check.ok);
            let failed: Vec<String> = failed.map(|check| check.message).collect();
            Err(DrillError::Unusable(failed.join("; ")))
        }
        Err(_) if was_stopped(output.status) => {
            Err(DrillError::NotMade("the check was stopped".to_owned()))
        }
        Err(_) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            let last = errors.lines().rev().find(|line| !line.trim().is_empty());
            let reason = last.unwrap_or("the check ended without a result").trim();
            let reason = reason.trim_end_matches('.').to_owned();
            if output.status.code() == Some(NOT_CHECKED.into()) {
                Err(DrillError::NotMade(reason))
            } else {
                Err(DrillError::Unusable(reason))
            }
        }
    }
}

fn was_stopped(status: ExitStatus) -> bool {
    let signal = status.signal();
    signal.is_some_and(|signal| STOPS.iter().any(|stop| stop.as_raw() == signal))
}

/// Deletes the files of a check by an earlier process, which may include readable keys.
fn remove(place: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Creates an empty directory for the owner only.
fn create(place: &Path) -> io::Result<()> {
    remove(place)?;
    DirBuilder::new().mode(0o700).create(place)
}

/// Deletes the directory of a drill, and logs a failure.
async fn clean(data_dir: &Path) {
    let place = data_dir.join(PLACE);
    let removed = tokio::task::spawn_blocking(move || remove(&place)).await;
    if let Ok(Err(error)) = removed {
        tracing::warn!(%error, "a temporary directory could not be deleted");
    }
}
