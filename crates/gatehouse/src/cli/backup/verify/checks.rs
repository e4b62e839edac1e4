//! Checks the content of a backup.

use super::{Check, Findings, of_archive};
use crate::cli::{offline::parts, progress};
use anyhow::Result;
use gatehouse::{Gateway, Purpose, data_dir};
use gatehouse_auth::audit::verify;
use gatehouse_backup::{Archive, folder::NewFile};
use gatehouse_config::{Environment, Invocation, Layers};
use gatehouse_secrets::PROVIDER_FILES;
use gatehouse_services::{backup::SETTINGS_FILE, doctor};
use gatehouse_store::Location;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(super) async fn check(archive: Archive<'_>, place: &Path) -> Result<Findings> {
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
    let mut settings_file = None;
    for file in &restored.files {
        // In another directory, the settings file has no effect. It may name another database.
        let is_settings = file.name == SETTINGS_FILE;
        if is_settings || PROVIDER_FILES.contains(&file.name.as_str()) {
            let directory = if is_settings { "settings" } else { "." };
            let to = NewFile::create(&place.join(directory).join(&file.name))?;
            (&to).write_all(&file.data)?;
            let path = to.keep()?;
            settings_file = is_settings.then_some(path).or(settings_file);
        }
    }
    restored.import.finish().await?;
    let mut found = check_installation(place).await?;
    found.checks.insert(0, of_archive(rows));
    found
        .doctor
        .extend(settings_file.map(|path| check_settings(place, path)));
    Ok(found)
}

/// Checks the settings file without the environment. The settings are not applied.
fn check_settings(place: &Path, path: PathBuf) -> doctor::Check {
    let invocation = Invocation {
        data_dir: Some(place.to_path_buf()),
        config: Some(path),
        ..Invocation::default()
    };
    let no_variables: [(&str, &str); 0] = [];
    let fault = Layers::load(&Environment::from_pairs(no_variables), &invocation).err();
    match fault {
        None => doctor::Check::fine("config", "The settings file is valid."),
        Some(error) => doctor::Check::bad(
            "config",
            format!("The settings file is not valid on its own: {error}"),
            "It may need variables of the environment, which a backup does not contain.",
        ),
    }
}

async fn check_installation(place: &Path) -> Result<Findings> {
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
    let all = doctor::checks_of_copy(&gateway.services).await;
    let (of_database, doctor): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|check| check.id == "database");
    checks.extend(of_database.into_iter().map(|check| Check {
        name: "doctor",
        ok: check.ok,
        message: check.message,
    }));
    gateway.close().await;
    Ok(Findings { checks, doctor })
}
