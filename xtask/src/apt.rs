//! Installs Debian packages where that is allowed.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::{find_program, is_root, run};

/// Installs packages. Where that is not allowed, the error says what to do.
pub fn install(packages: &[&str]) -> Result<()> {
    let names = packages.join(" ");
    if find_program("apt-get").is_none() {
        bail!("not installed, and this machine has no apt-get: install {names}");
    }
    if !is_root() {
        bail!("not installed: sudo apt-get install {names}");
    }
    let apt = || {
        let mut apt = Command::new("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive").arg("--quiet");
        apt
    };
    run(apt().arg("update"))?;
    run(apt()
        .args(["install", "--yes", "--no-install-recommends"])
        .args(packages))
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
