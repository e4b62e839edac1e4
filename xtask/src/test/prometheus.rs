//! Tests the alert rules in `deploy/prometheus` with Prometheus' own tool, and prepares its server and Alertmanager for
//! tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::Session;
use crate::apt;
use crate::process::{find_program, is_executable, is_root, run};

const TOOL: &str = "promtool";
/// The server program, in the same directory.
const SERVER: &str = "prometheus";
/// The Debian package that contains both programs.
const PACKAGE: &str = "prometheus";
/// The name of Alertmanager's program if it does not come from Debian.
const ALERTMANAGER: &str = "alertmanager";
/// The Debian package with Alertmanager, and its program.
const ALERTMANAGER_PACKAGE: &str = "prometheus-alertmanager";
/// The directory of the templates, below the root. Debian's program does not start without them.
const TEMPLATES: &str = "usr/share/prometheus/alertmanager";

impl Session<'_> {
    /// Checks the rules and runs their tests.
    pub(super) fn prometheus(&mut self, target: &Path) {
        let folder = target.join("test-prometheus");
        let found = find_program(TOOL).map_or_else(|| unpacked(PACKAGE, TOOL, &folder), Ok);
        let tool = match found {
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

    /// Finds or unpacks Alertmanager.
    pub(super) fn alertmanager(&mut self, target: &Path) {
        let found = find_program(ALERTMANAGER).or_else(|| find_program(ALERTMANAGER_PACKAGE));
        match found.map_or_else(|| unpacked_alertmanager(target), Ok) {
            Ok(program) => self.set("GATEHOUSE_TEST_ALERTMANAGER", program.to_string_lossy()),
            Err(error) => self.report.left_out("tests with Alertmanager", &error),
        }
    }
}

fn unpacked_alertmanager(target: &Path) -> Result<PathBuf> {
    let folder = target.join("test-alertmanager");
    let program = unpacked(ALERTMANAGER_PACKAGE, ALERTMANAGER_PACKAGE, &folder)?;
    let (from, to) = (folder.join(TEMPLATES), Path::new("/").join(TEMPLATES));
    if to.join("default.tmpl").is_file() {
        return Ok(program);
    }
    if !is_root() {
        bail!("its templates are not installed: sudo apt-get install {ALERTMANAGER_PACKAGE}");
    }
    std::fs::create_dir_all(&to).with_context(|| to.display().to_string())?;
    for entry in from.read_dir()? {
        let entry = entry?;
        let copy = to.join(entry.file_name());
        if copy.extension().is_some_and(|end| end == "tmpl") {
            std::fs::copy(entry.path(), &copy).with_context(|| copy.display().to_string())?;
        }
    }
    Ok(program)
}

/// Unpacks a program of a Debian package into a directory. Installing the package would start a server.
fn unpacked(package: &str, program: &str, folder: &Path) -> Result<PathBuf> {
    let unpacked = folder.join("usr/bin").join(program);
    if is_executable(&unpacked) {
        return Ok(unpacked);
    }
    if find_program("apt-get").is_none() || find_program("dpkg-deb").is_none() {
        bail!("not installed, and this machine has no apt-get: install {package}");
    }
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    apt::download(package, folder)?;
    let entries = folder.read_dir()?.filter_map(Result::ok);
    let mut archives = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "deb"));
    let archive = archives.next().context("apt-get downloaded nothing")?;
    run(Command::new("dpkg-deb")
        .arg("--extract")
        .arg(&archive)
        .arg(folder))?;
    std::fs::remove_file(&archive)?;
    if !is_executable(&unpacked) {
        bail!("the package {package} has no {program}");
    }
    Ok(unpacked)
}
