//! The files of a package, in a folder with the layout of the installed system.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::Job;
use crate::process::{capture, run};

/// The folder below the output folder. `crates/gatehouse/Cargo.toml` contains the same name.
pub const FOLDER: &str = "stage";
/// Files of `deploy/`, and where they are installed.
const DEPLOYED: [(&str, &str); 6] = [
    (
        "gatehouse.service",
        "usr/lib/systemd/system/gatehouse.service",
    ),
    (
        "gatehouse.sysusers.conf",
        "usr/lib/sysusers.d/gatehouse.conf",
    ),
    ("gatehouse.env", "etc/gatehouse/gatehouse.env"),
    (
        "prometheus/gatehouse.rules.yaml",
        "usr/share/gatehouse/prometheus/gatehouse.rules.yaml",
    ),
    (
        "prometheus/prometheus.yaml",
        "usr/share/gatehouse/prometheus/prometheus.yaml",
    ),
    (
        "grafana/gatehouse.json",
        "usr/share/gatehouse/grafana/gatehouse.json",
    ),
];
const DOCUMENTS: [&str; 8] = [
    "README.md",
    "CHANGELOG.md",
    "NOTICE",
    "LICENSE",
    "SECURITY.md",
    "docs/OPERATIONS.md",
    "docs/API.md",
    "docs/vault-format.md",
];

/// Fills the folder. `runs` is a binary of this machine's architecture.
pub fn fill(job: &Job<'_>, binary: &Path, runs: &Path) -> Result<PathBuf> {
    let stage = job.out.join(FOLDER);
    if stage.exists() {
        std::fs::remove_dir_all(&stage)?;
    }
    install(binary, &stage.join("usr/bin/gatehouse"), 0o755)?;
    let deploy = job.root.join("deploy");
    for (from, to) in DEPLOYED {
        install(&deploy.join(from), &stage.join(to), 0o644)?;
    }
    for name in DOCUMENTS {
        let from = job.root.join(name);
        let file = from.file_name().context("no name")?.to_owned();
        install(
            &from,
            &stage.join("usr/share/doc/gatehouse").join(file),
            0o644,
        )?;
    }
    completions(&stage, runs)?;
    man_pages(&stage, runs)?;
    Ok(stage)
}

fn completions(stage: &Path, runs: &Path) -> Result<()> {
    for (shell, path) in [
        ("bash", "usr/share/bash-completion/completions/gatehouse"),
        ("fish", "usr/share/fish/vendor_completions.d/gatehouse.fish"),
        ("zsh", "usr/share/zsh/vendor-completions/_gatehouse"),
    ] {
        let script = capture(Command::new(runs).args(["completions", shell]))?;
        let path = stage.join(path);
        std::fs::create_dir_all(path.parent().context("no folder")?)?;
        std::fs::write(&path, script)?;
        mode(&path, 0o644)?;
    }
    Ok(())
}

fn man_pages(stage: &Path, runs: &Path) -> Result<()> {
    let folder = stage.join("usr/share/man/man1");
    run(Command::new(runs).args(["generate", "--man"]).arg(&folder))?;
    let mut pages = Vec::new();
    for entry in folder.read_dir()? {
        let path = entry?.path();
        mode(&path, 0o644)?;
        pages.push(path);
    }
    // `-n` omits the name and the time.
    run(Command::new("gzip").arg("-n9").args(pages))
}

fn install(from: &Path, to: &Path, permissions: u32) -> Result<()> {
    std::fs::create_dir_all(to.parent().context("no folder")?)?;
    std::fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    mode(to, permissions)
}

fn mode(path: &Path, permissions: u32) -> Result<()> {
    let permissions = std::fs::Permissions::from_mode(permissions);
    std::fs::set_permissions(path, permissions).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The package contents are listed in a manifest. It names each file, or all files of its directory.
    #[test]
    fn both_packages_contain_the_files_of_the_stage() {
        let root = crate::process::root().unwrap();
        let manifest = std::fs::read_to_string(root.join("crates/gatehouse/Cargo.toml")).unwrap();
        let (deb, rpm) = manifest
            .split_once("[package.metadata.generate-rpm]")
            .unwrap();
        for (from, to) in DEPLOYED {
            assert!(root.join("deploy").join(from).is_file(), "{from}");
            let staged = format!("target/package/{FOLDER}/{to}\"");
            for list in [deb, rpm] {
                assert!(list.contains(&staged), "{to}");
            }
        }
    }
}
