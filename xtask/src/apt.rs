//! Installs Debian packages if this process is allowed to.

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};

use crate::process::{find_program, is_root, run};

/// Whether this process has updated the package lists. The lock also prevents two threads from running apt-get at the
/// same time, because the second call would fail.
static UPDATED: Mutex<bool> = Mutex::new(false);

/// Installs packages. If that is not allowed, the error gives instructions.
pub fn install(packages: &[&str]) -> Result<()> {
    let names = packages.join(" ");
    if find_program("apt-get").is_none() {
        bail!("not installed, and this machine has no apt-get: install {names}");
    }
    if !is_root() {
        bail!("not installed: sudo apt-get install {names}");
    }
    with_lists(|| {
        run(apt()
            .args(["install", "--yes", "--no-install-recommends"])
            .args(packages))
    })
}

/// Downloads a package into a directory without installing it.
pub fn download(package: &str, folder: &Path) -> Result<()> {
    let download = || run(apt().args(["download", package]).current_dir(folder));
    if is_root() {
        with_lists(download)
    } else {
        download().with_context(|| format!("sudo apt-get update, or install {package}"))
    }
}

/// Updates the package lists if necessary, then runs the action under the lock.
fn with_lists(action: impl FnOnce() -> Result<()>) -> Result<()> {
    let mut updated = UPDATED.lock().unwrap_or_else(PoisonError::into_inner);
    if !*updated {
        run(apt().arg("update"))?;
        *updated = true;
    }
    action()
}

fn apt() -> Command {
    let mut apt = Command::new("apt-get");
    apt.env("DEBIAN_FRONTEND", "noninteractive").arg("--quiet");
    apt
}

/// Keeps Debian from creating and starting a cluster when it installs PostgreSQL. An existing configuration
/// is kept.
pub fn forbid_main_cluster() -> Result<()> {
    let folder = Path::new("/etc/postgresql-common");
    let settings = folder.join("createcluster.conf");
    if !is_root() || settings.exists() {
        return Ok(());
    }
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&settings, "create_main_cluster = false\n"))
        .with_context(|| settings.display().to_string())
}
