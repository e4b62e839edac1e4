//! `backup verify`: restores into a temporary directory and checks the result. The server runs this command for its
//! trial restores.

mod checks;

use super::super::globals::Globals;
use super::super::output::{Output, bad, good, line, note, plain};
use super::super::progress;
use super::{KeyArgs, manifest_record, open_file};
use anyhow::{Context, Result, ensure};
use checks::check;
use gatehouse::drill::{NOT_CHECKED, TEMPORARY};
use gatehouse_backup::age::{FileKey, Identity};
use gatehouse_backup::{Archive, BackupError};
use gatehouse_services::doctor;
use gatehouse_store::{ImportError, StoreError};
use serde_json::{Value, json};
use std::fs::Permissions;
use std::io::{ErrorKind, Read, stdin};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::ExitCode;
use zeroize::Zeroizing;

/// Maximum length of the text on standard input. A key has 32 characters.
const KEY_BYTES: u64 = 64;

/// Flags for the trial restores of the server.
#[derive(Debug, clap::Args)]
pub struct TrialArgs {
    /// Read the key of the file from standard input
    #[arg(long, hide = true, conflicts_with_all = ["passphrase_file", "identity"])]
    key_from_stdin: bool,
    /// Read the backup and compare its checksums, without restoring it
    #[arg(long, hide = true)]
    read_only: bool,
}

/// A check that decides whether the backup is intact.
struct Check {
    name: &'static str,
    ok: bool,
    message: String,
}

/// The results of the checks.
struct Findings {
    checks: Vec<Check>,
    /// The checks of `doctor` on the restored copy. They show the state of the installation, which may have problems
    /// even if the backup is intact.
    doctor: Vec<doctor::Check>,
}

/// Runs `backup verify`.
pub async fn run(
    globals: &Globals,
    out: &Output,
    file: &Path,
    key: &KeyArgs,
    trial: &TrialArgs,
) -> Result<ExitCode> {
    let identity = if trial.key_from_stdin {
        Some(Identity::FileKey(key_from_stdin()?))
    } else {
        key.identity()?
    };
    let archive = open_file(file, identity.as_ref())?;
    let mut record = manifest_record(archive.manifest());
    let found = if trial.read_only {
        read(archive).await?
    } else {
        let place = temporary(globals)?;
        match check(archive, place.path()).await {
            Err(error) if is_of_place(&error) => {
                note(format!("The backup was not checked: {error:#}"));
                return Ok(ExitCode::from(NOT_CHECKED));
            }
            found => found?,
        }
    };
    let Findings { checks, doctor } = &found;
    let is_good = checks.iter().all(|check| check.ok);
    let list: Vec<Value> = checks
        .iter()
        .map(|check| json!({ "id": check.name, "ok": check.ok, "message": check.message }))
        .collect();
    if let Some(fields) = record.as_object_mut() {
        fields.insert("ok".to_owned(), is_good.into());
        fields.insert("checks".to_owned(), list.into());
        fields.insert("doctor".to_owned(), json!(doctor));
    }
    out.record(&record, || print(&found))?;
    Ok(if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Restores a backup into a temporary directory. Fails if one of the checks fails.
pub async fn try_restore(globals: &Globals, archive: Archive<'_>) -> Result<()> {
    let place = temporary(globals)?;
    let found = check(archive, place.path()).await?;
    let failed = found.checks.into_iter().filter(|check| !check.ok);
    let failed: Vec<String> = failed.map(|check| check.message).collect();
    ensure!(failed.is_empty(), "{}", failed.join("; "));
    Ok(())
}

fn print(found: &Findings) {
    for check in &found.checks {
        let mark = if check.ok { good("✓") } else { bad("✗") };
        line(format!("{mark} {}", check.message));
    }
    // Without a restore, the state of the installation is unknown.
    if found.doctor.is_empty() {
        return;
    }
    line("\nState of the installation in the backup:");
    for check in &found.doctor {
        let mark = if check.ok { good("✓") } else { bad("!") };
        line(format!("{mark} {}", plain(&check.message)));
        if let Some(hint) = &check.hint {
            line(format!("    {}", plain(hint)));
        }
    }
    line("Settings of the file and the environment were not applied to these checks.");
}

fn key_from_stdin() -> Result<FileKey> {
    let mut text = Zeroizing::new(String::new());
    let read = stdin().lock().take(KEY_BYTES).read_to_string(&mut text);
    read.context("cannot read the key from standard input")?;
    Ok(FileKey::parse_hex(text.trim())?)
}

/// Creates a directory that only the owner can access, and that is deleted when dropped. It is in the data directory if
/// there is one, because its files may be readable.
fn temporary(globals: &Globals) -> Result<tempfile::TempDir> {
    let data_dir = globals.layers()?.data_dir().to_path_buf();
    let place = if data_dir.is_dir() {
        builder().tempdir_in(&data_dir)
    } else {
        builder().tempdir()
    };
    place.context("cannot create a temporary directory")
}

fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    builder.permissions(Permissions::from_mode(0o700));
    builder
}

/// Returns whether the error is about the temporary directory, for example a full disk.
fn is_of_place(error: &anyhow::Error) -> bool {
    let is_full = |error: &std::io::Error| {
        matches!(
            error.kind(),
            ErrorKind::StorageFull
                | ErrorKind::QuotaExceeded
                | ErrorKind::FileTooLarge
                | ErrorKind::ReadOnlyFilesystem
        )
    };
    error.chain().any(|cause| {
        let store = cause
            .downcast_ref::<StoreError>()
            .or_else(|| match cause.downcast_ref::<BackupError>()? {
                BackupError::Store(error) | BackupError::Import(ImportError::Store(error)) => {
                    Some(error)
                }
                _ => None,
            })
            .or_else(|| match cause.downcast_ref::<ImportError>()? {
                ImportError::Store(error) => Some(error),
                _ => None,
            });
        store.is_some_and(StoreError::is_unavailable) || cause.downcast_ref().is_some_and(is_full)
    })
}

/// Reads the backup without restoring it.
async fn read(archive: Archive<'_>) -> Result<Findings> {
    let rows = archive.manifest().rows();
    let bar = progress::bar("Reading");
    let step = |done, total| progress::show(&bar, done, total);
    let checked = archive.check(step).await;
    bar.finish_and_clear();
    checked?;
    Ok(Findings {
        checks: vec![of_archive(rows)],
        doctor: Vec::new(),
    })
}

/// Returns the check that every row was read.
fn of_archive(rows: u64) -> Check {
    Check {
        name: "archive",
        ok: true,
        message: format!("The checksums of all {rows} rows match"),
    }
}

#[cfg(test)]
mod tests;
