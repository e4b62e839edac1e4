//! `backup verify`: restores into a temporary directory and checks the result.

use super::super::globals::Globals;
use super::super::offline::parts;
use super::super::output::{Output, bad, good, line, note};
use super::super::progress;
use super::{KeyArgs, manifest_record, open_file};
use anyhow::{Context, Result};
use gatehouse::drill::{NOT_CHECKED, TEMPORARY};
use gatehouse::{Gateway, Purpose, data_dir};
use gatehouse_auth::audit::verify;
use gatehouse_backup::folder::NewFile;
use gatehouse_backup::{Archive, BackupError};
use gatehouse_config::{Environment, Invocation, Layers};
use gatehouse_secrets::PROVIDER_FILES;
use gatehouse_services::doctor;
use gatehouse_store::{ImportError, Location, StoreError};
use serde_json::{Value, json};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

/// The result of a check.
struct Check {
    name: &'static str,
    ok: bool,
    message: String,
}

/// Runs `backup verify`.
pub async fn run(globals: &Globals, out: &Output, file: &Path, key: &KeyArgs) -> Result<ExitCode> {
    let archive = open_file(file, key)?;
    let mut record = manifest_record(archive.manifest());
    let place = temporary(globals)?;
    let checks = match check(archive, place.path()).await {
        Err(error) if is_of_place(&error) => {
            note(format!("The backup was not checked: {error:#}"));
            return Ok(ExitCode::from(NOT_CHECKED));
        }
        checks => checks?,
    };
    let is_good = checks.iter().all(|check| check.ok);
    let list: Vec<Value> = checks
        .iter()
        .map(|check| json!({ "id": check.name, "ok": check.ok, "message": check.message }))
        .collect();
    if let Some(fields) = record.as_object_mut() {
        fields.insert("ok".to_owned(), is_good.into());
        fields.insert("checks".to_owned(), list.into());
    }
    out.record(&record, || {
        for check in &checks {
            let mark = if check.ok { good("✓") } else { bad("✗") };
            line(format!("{mark} {}", check.message));
        }
    })?;
    Ok(if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// A directory for the owner only, deleted when dropped. It is in the data directory if there is one, because
/// the files in it may be readable.
fn temporary(globals: &Globals) -> Result<tempfile::TempDir> {
    let data_dir = globals.layers()?.data_dir().to_path_buf();
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    let place = if data_dir.is_dir() {
        builder.tempdir_in(&data_dir)
    } else {
        builder.tempdir()
    };
    place.context("cannot create a temporary directory")
}

/// Whether the temporary directory could not store the restored data.
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

async fn check(archive: Archive<'_>, place: &Path) -> Result<Vec<Check>> {
    let rows = archive.manifest().rows();
    let database = place.join("gatehouse.db");
    drop(data_dir::open_private(&database)?);
    let bar = progress::bar("Restoring");
    let step = |done, total| progress::show(&bar, done, total);
    let restored = archive
        .restore(&Location::sqlite_file(&database), step)
        .await;
    bar.finish_and_clear();
    let restored = restored?;
    // Without the settings file: it may name another database.
    for file in restored
        .files
        .iter()
        .filter(|file| PROVIDER_FILES.contains(&file.name.as_str()))
    {
        let to = NewFile::create(&place.join(&file.name))?;
        (&to).write_all(&file.data)?;
        to.keep()?;
    }
    restored.import.finish().await?;
    let mut checks = vec![Check {
        name: "archive",
        ok: true,
        message: format!("The checksums of all {rows} rows match"),
    }];
    checks.extend(check_installation(place).await?);
    Ok(checks)
}

async fn check_installation(place: &Path) -> Result<Vec<Check>> {
    let invocation = Invocation {
        data_dir: Some(place.to_path_buf()),
        ..Invocation::default()
    };
    let no_variables: [(&str, &str); 0] = [];
    let layers = Layers::load(&Environment::from_pairs(no_variables), &invocation)?;
    let gateway = Gateway::open(layers, parts(), Purpose::Command).await?;
    let store = gateway.store();
    let faults = store.check_integrity().await?;
    let integrity = Check {
        name: "integrity",
        ok: faults.is_empty(),
        message: if faults.is_empty() {
            "The restored database is intact".to_owned()
        } else {
            format!("The restored database has errors: {}", faults.join("; "))
        },
    };
    let audit = verify(store).await;
    let audit = Check {
        name: "audit",
        ok: audit.is_ok(),
        message: match audit {
            Ok(found) => format!("The audit log is intact: {} rows", found.rows),
            Err(error) => format!("The audit log is not intact: {error}"),
        },
    };
    let mut checks = vec![integrity, audit];
    // The vault of a backup is sealed, and a temporary directory has no server.
    let found = doctor::checks(&gateway.services, None).await;
    for check in found.into_iter().filter(|check| check.id == "database") {
        checks.push(Check {
            name: "doctor",
            ok: check.ok,
            message: check.message,
        });
    }
    gateway.close().await;
    Ok(checks)
}
