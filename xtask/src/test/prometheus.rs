//! Tests the alert rules in `deploy/prometheus` with Prometheus' own tool, and prepares its server for a test.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::Session;
use crate::apt;
use crate::process::{find_program, is_executable, run};

const TOOL: &str = "promtool";
/// In the same directory.
const SERVER: &str = "prometheus";
/// The Debian package with both.
const PACKAGE: &str = "prometheus";

impl Session<'_> {
    /// Checks the rules and runs their tests.
    pub(super) fn prometheus(&mut self, target: &Path) {
        let tool = match find_program(TOOL).map_or_else(|| unpacked(target), Ok) {
            Ok(tool) => tool,
            Err(error) => return self.report.left_out("tests of the alert rules", &error),
        };
        let server = tool.with_file_name(SERVER);
        if is_executable(&server) {
            let server = server.to_string_lossy().into_owned();
            self.set("GATEHOUSE_TEST_PROMETHEUS", server);
        }
        let folder = self.root.join("deploy/prometheus");
        self.report.step("alert rules", || {
            for arguments in [
                ["check", "rules", "gatehouse.rules.yaml"],
                ["test", "rules", "gatehouse.rules.test.yaml"],
            ] {
                run(Command::new(&tool).args(arguments).current_dir(&folder))?;
            }
            Ok(())
        });
    }
}

/// Unpacks the tool into the target directory. Installing the package would start a server.
fn unpacked(target: &Path) -> Result<PathBuf> {
    let folder = target.join("test-prometheus");
    let tool = folder.join("usr/bin").join(TOOL);
    if is_executable(&tool) {
        return Ok(tool);
    }
    if find_program("apt-get").is_none() || find_program("dpkg-deb").is_none() {
        bail!("not installed, and this machine has no apt-get: install {PACKAGE}");
    }
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    apt::download(PACKAGE, &folder)?;
    let entries = folder.read_dir()?.filter_map(Result::ok);
    let mut archives = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "deb"));
    let archive = archives.next().context("apt-get downloaded nothing")?;
    run(Command::new("dpkg-deb")
        .arg("--extract")
        .args([&archive, &folder]))?;
    std::fs::remove_file(&archive)?;
    if !is_executable(&tool) {
        bail!("the package {PACKAGE} has no {TOOL}");
    }
    Ok(tool)
}
