//! Checks the files in `deploy/` with the libraries, schemas and programs of their formats, without a cluster or a
//! running service manager.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::Session;
use crate::process::{capture, find_program, run};
use crate::{apt, python};

/// The checker of units.
const ANALYZER: &str = "systemd-analyze";
/// The units, each with the service manager that runs it.
const UNITS: [(&str, &str); 2] = [
    ("gatehouse.service", "--system"),
    ("gatehouse.user.service", "--user"),
];
/// The program that the units start. It need not be installed here.
const PROGRAM: &str = "/usr/bin/gatehouse";
const STAND_IN: &str = "/bin/true";
/// Nix's parser and evaluator, and the Debian package that contains it.
const NIX: &str = "nix-instantiate";
const NIX_PACKAGE: &str = "nix-bin";
/// The flake and the module that it names.
const NIX_FILES: [&str; 2] = ["flake.nix", "deploy/nixos.nix"];
/// The output of the evaluation if all checks passed: an empty list of failed checks.
const NO_FAULTS: &str = "[]";

impl Session<'_> {
    /// Checks the Compose files, the Helm chart, the units and the flake.
    pub(super) fn deploy(&mut self, target: &Path) {
        let root = self.root;
        let folder = target.join("test-deploy");
        let own = root.join("xtask/src/test/deploy");
        match python::environment(&folder.join("python"), &own.join("requirements.txt")) {
            Ok(python) => {
                self.report.step("Compose files and Helm chart", || {
                    let mut command = Command::new(&python.program);
                    // Prevents compiled copies of the script in the working tree.
                    command.arg("-B").arg(own.join("check_deploy.py"));
                    run(command.arg(root.join("deploy")))
                });
            }
            Err(error) => {
                let what = "the checks of the Compose files and the Helm chart";
                self.report.left_out(what, &error);
            }
        }
        match find_program(ANALYZER) {
            Some(program) => {
                self.report
                    .step("systemd units", || check_units(&program, root, &folder));
            }
            None => self
                .report
                .declined("the check of the systemd units", "no systemd-analyze here"),
        }
        match nix() {
            Ok(program) => {
                self.report
                    .step("Nix flake", || check_flake(&program, root, &folder));
            }
            Err(error) => self.report.left_out("the check of the Nix flake", &error),
        }
    }
}

fn nix() -> Result<PathBuf> {
    if let Some(program) = find_program(NIX) {
        return Ok(program);
    }
    apt::install(&[NIX_PACKAGE])?;
    find_program(NIX).with_context(|| format!("the package {NIX_PACKAGE} has no {NIX}"))
}

/// Parses the files, which also finds undefined variables, and evaluates them with stand-ins for nixpkgs.
fn check_flake(program: &Path, root: &Path, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let nix = || {
        let mut nix = Command::new(program);
        // No store is read or created.
        nix.args(["--store", "dummy://", "--readonly-mode"]);
        nix.current_dir(root).env("HOME", folder);
        nix
    };
    for file in NIX_FILES {
        capture(nix().arg("--parse").arg(root.join(file)))?;
    }
    let root = root.to_str().context("a path is not UTF-8")?;
    let mut evaluation = nix();
    evaluation.args(["--eval", "--strict", "--json", "--argstr", "root", root]);
    let faults = capture(evaluation.arg("xtask/src/test/deploy/check_flake.nix"))?;
    ensure!(
        faults.trim() == NO_FAULTS,
        "these do not hold: {}",
        faults.trim()
    );
    Ok(())
}

fn check_units(program: &Path, root: &Path, folder: &Path) -> Result<()> {
    let units = folder.join("units");
    std::fs::create_dir_all(&units).with_context(|| units.display().to_string())?;
    for (name, manager) in UNITS {
        let from = root.join("deploy").join(name);
        let text = std::fs::read_to_string(&from).with_context(|| from.display().to_string())?;
        ensure!(text.contains(PROGRAM), "{name} does not start {PROGRAM}");
        let copy = units.join(name);
        std::fs::write(&copy, text.replace(PROGRAM, STAND_IN))?;
        let output = Command::new(program)
            .args(["verify", "--man=no", "--recursive-errors=no", manager])
            .arg(&copy)
            // The manager of a user needs a directory for its sockets.
            .env("XDG_RUNTIME_DIR", &units)
            .output()
            .with_context(|| format!("cannot start {ANALYZER}"))?;
        let complaints = String::from_utf8_lossy(&output.stderr);
        // The analyzer ignores unknown directives. It prints a warning that contains the name of
        // the file.
        if !output.status.success() || complaints.contains(name) {
            bail!("{name}: {}", complaints.trim_end());
        }
    }
    Ok(())
}
