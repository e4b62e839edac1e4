//! Folders of `tests/` with a `package.json`: their Node modules, beside a copy of what is there.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::apt;
use crate::process::{capture, find_program, run};

/// Modules that tests hold our webhooks against: what they are, their folder in `tests`, and the
/// variable by which tests find the copy.
pub const WEBHOOKS: [(&str, &str, &str); 2] = [
    (
        "vendors' webhook libraries",
        "webhook-sdks",
        "GATEHOUSE_TEST_NODE_SDKS",
    ),
    (
        "published webhook examples",
        "webhook-examples",
        "GATEHOUSE_TEST_WEBHOOK_EXAMPLES",
    ),
];

/// Copies `tests` to `folder`, so that the working tree stays clean, and installs there what its
/// `package.json` names.
pub fn install(tests: &Path, folder: &Path) -> Result<()> {
    if find_program("npm").is_none() {
        apt::install(&["nodejs", "npm"])?;
    }
    copy(tests, folder)?;
    let locked = folder.join("package-lock.json").is_file();
    let mut npm = Command::new("npm");
    npm.arg(if locked { "ci" } else { "install" })
        .args(["--no-audit", "--no-fund"]);
    // The browser is Debian's: playwright must not fetch one of its own.
    run(npm
        .current_dir(folder)
        .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1"))
}

/// Node, as it tells it.
pub fn version() -> Result<String> {
    let version = capture(Command::new("node").arg("--version"))?;
    Ok(format!("Node {}", version.trim()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    for entry in from.read_dir()? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if !entry.file_type()?.is_dir() {
            std::fs::copy(entry.path(), &target).with_context(|| target.display().to_string())?;
        } else if entry.file_name() != "node_modules" {
            copy(&entry.path(), &target)?;
        }
    }
    Ok(())
}
