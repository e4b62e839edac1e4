//! Prepares servers of Debian that tests start: Dovecot for mail, and OpenSSH's server.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::Session;
use crate::apt;
use crate::process::{is_executable, is_root};

/// The variable with the path of Dovecot.
const DOVECOT: &str = "GATEHOUSE_TEST_DOVECOT";
/// The variable with the path of OpenSSH's server.
const SSHD: &str = "GATEHOUSE_TEST_SSHD";
/// OpenSSH's server needs this directory if it runs as root.
const SSHD_FOLDER: &str = "/run/sshd";
/// This directory exists if systemd runs. systemd starts the servers of installed packages.
const SYSTEMD: &str = "/run/systemd/system";

impl Session<'_> {
    /// Prepares the mail server that the tests of `crates/channels` read emails from.
    pub(super) fn prepare_dovecot(&mut self) {
        match dovecot() {
            Ok((program, version)) => {
                self.report.engine(&format!("Dovecot {version}"));
                self.set(DOVECOT, program.to_string_lossy());
            }
            Err(error) => self.report.left_out("Dovecot", &error),
        }
    }

    /// Prepares the server that the tests of the SSH agent log in to.
    pub(super) fn prepare_sshd(&mut self) {
        match sshd() {
            Ok(program) => {
                self.report.engine("OpenSSH's server");
                self.set(SSHD, program.to_string_lossy());
            }
            Err(error) => self.report.left_out("OpenSSH's server", &error),
        }
    }
}

/// Returns the program and its version.
fn dovecot() -> Result<(PathBuf, String)> {
    let program = installed("/usr/sbin/dovecot", "dovecot-imapd")?;
    let output = Command::new(&program).arg("--version").output();
    let output = output.with_context(|| program.display().to_string())?;
    let version = String::from_utf8_lossy(&output.stdout);
    let version = version.split_whitespace().next().unwrap_or_default();
    if !version.starts_with("2.3.") {
        bail!("the settings of the tests are for Dovecot 2.3, and this is {version}");
    }
    Ok((program, version.to_owned()))
}

fn sshd() -> Result<PathBuf> {
    let program = installed("/usr/sbin/sshd", "openssh-server")?;
    if is_root() {
        std::fs::create_dir_all(SSHD_FOLDER).context(SSHD_FOLDER)?;
    }
    Ok(program)
}

/// Returns a program. If it is missing, installs its package, provided that this starts no server.
fn installed(program: &str, package: &str) -> Result<PathBuf> {
    let path = PathBuf::from(program);
    if is_executable(&path) {
        return Ok(path);
    }
    if Path::new(SYSTEMD).exists() {
        bail!("not installed, because the package {package} would start a server here");
    }
    apt::install(&[package])?;
    if !is_executable(&path) {
        bail!("the package {package} has no {program}");
    }
    Ok(path)
}
